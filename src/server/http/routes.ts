import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
import { type AnyEndpoint, listParameters } from "../../core/api/index.ts";
import { type ApiRequest, type Caller, type Handler, ProblemError, type ServerContext } from "../handler.ts";
import type { Pages } from "../inbox/create-pages.ts";
import { toProblemError, toProblemResponse, toResponse } from "./answer.ts";
import { authenticate, type RateLimit } from "./authenticate.ts";
import { findIncoming } from "./client-address.ts";
import { logBroken, logRequest } from "./log-request.ts";
import { readRequest } from "./read-request.ts";
import { RememberedKeys } from "./remembered-keys.ts";

/** A handler of whatever is asked and answered: what it is given, its endpoint's schemas have read. */
export type AnyHandler = Handler<unknown, unknown, unknown>;

export interface RouteOptions {
  readonly context: ServerContext;
  readonly endpoints: Readonly<Record<string, AnyEndpoint>>;
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly keyFailures: RateLimit;
  readonly clientAddress: (request: Request, env: unknown) => string;
  /** What is answered to browsers beside the endpoints. */
  readonly pages?: Pages | undefined;
  /** Aborted when the server shuts down. */
  readonly shutdown: AbortSignal;
}

/** The server's routes, one for each endpoint of the table; every answer that is an error is a problem. */
export function createRoutes(options: RouteOptions): Hono {
  const app = new Hono();
  const paths = new Map<string, string[]>();
  const remembered = new RememberedKeys();
  for (const [name, endpoint] of Object.entries(options.endpoints)) {
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1");
    const methods = paths.get(path) ?? [];
    methods.push(endpoint.method, ...(endpoint.method === "GET" ? ["HEAD"] : []));
    paths.set(path, methods);
    const handler = options.handlers[name];
    if (!handler) throw new TypeError(`the endpoint ${name} has no handler`);
    const names = listParameters(endpoint.path);
    const route: Route = {
      names,
      endpoint,
      handler,
      options,
      ...(name === "check" && { remembered }),
    };
    app.on(endpoint.method, path, (c) => answer(c, route));
  }
  for (const [path, methods] of paths) {
    app.all(path, (c) =>
      refuse(c, options, { error: new ProblemError("method_not_allowed"), allow: methods.join(", ") }),
    );
  }
  app.notFound(
    async (c) => (await answerPage(c, options)) ?? refuse(c, options, { error: new ProblemError("not_found") }),
  );
  app.onError((error, c) => refuse(c, options, { error: toProblemError(error) }));
  return app;
}

interface Route {
  readonly endpoint: AnyEndpoint;
  /** Of the parameters of its path. */
  readonly names: readonly string[];
  readonly handler: AnyHandler;
  readonly options: RouteOptions;
  /** Of the one endpoint that many calls wait for, and that looks at the key again when it writes. */
  readonly remembered?: RememberedKeys;
}

async function answer(c: Context, { endpoint, names, handler, options, remembered }: Route): Promise<Response> {
  const started = performance.now();
  const { context, keyFailures, shutdown } = options;
  const { raw } = c.req;
  const requestId = randomUUID();
  let caller: Caller | undefined;
  let problem: ProblemError | undefined;
  let response: Response;
  try {
    const clientAddress = options.clientAddress(raw, c.env);
    caller = await authenticate(endpoint, raw, { context, keyFailures, clientAddress, remembered });
    const read = await readRequest(endpoint, raw, {
      names,
      param: (name) => c.req.param(name),
      incoming: findIncoming(c.env),
    });
    const request: ApiRequest<unknown, unknown> = {
      caller,
      ...read,
      requestId,
      headers: raw.headers,
      clientAddress,
      // Made for the few that wait.
      get signal() {
        return AbortSignal.any([raw.signal, shutdown]);
      },
    };
    response = toResponse(await handler(request, context), requestId, () => ({
      media: endpoint.media ?? "application/x-ndjson",
      signal: request.signal,
      onError: (error) => logBroken(context.log, { requestId, route: endpoint.path, error }),
    }));
    // Nobody reads what comes behind the head.
    if (raw.method === "HEAD") await response.body?.cancel();
  } catch (error) {
    problem = toProblemError(error);
    response = toProblemResponse(problem, requestId);
  }
  logRequest(context.log, {
    requestId,
    method: endpoint.method,
    route: endpoint.path,
    status: response.status,
    durationMs: performance.now() - started,
    caller,
    clientRequestId: raw.headers.get("x-request-id"),
    ...(problem && { problem }),
  });
  return response;
}

/** Answers with a page, if there is one of this path. */
async function answerPage(c: Context, { pages, context }: RouteOptions): Promise<Response | undefined> {
  const started = performance.now();
  const { raw } = c.req;
  const found = await pages?.(raw);
  if (!found) return undefined;
  const requestId = randomUUID();
  const { route, response } = found;
  response.headers.set("x-request-id", requestId);
  logRequest(context.log, {
    requestId,
    method: raw.method,
    route,
    status: response.status,
    durationMs: performance.now() - started,
    caller: undefined,
    clientRequestId: raw.headers.get("x-request-id"),
  });
  return response;
}

/** Answers what is no endpoint. */
function refuse(
  c: Context,
  { context }: RouteOptions,
  { error, allow }: { readonly error: ProblemError; readonly allow?: string },
): Response {
  const requestId = randomUUID();
  const response = toProblemResponse(error, requestId, allow === undefined ? {} : { allow });
  logRequest(context.log, {
    requestId,
    // Any text may stand for a method.
    method: METHODS.has(c.req.method) ? c.req.method : "other",
    route: undefined,
    status: response.status,
    durationMs: 0,
    caller: undefined,
    clientRequestId: c.req.raw.headers.get("x-request-id"),
    problem: error,
  });
  return response;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
