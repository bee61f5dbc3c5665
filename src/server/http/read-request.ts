import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { type AnyEndpoint, MAX_BODY_BYTES, parameterSchema, readMessage } from "../../core/api/index.ts";
import { ProblemError } from "../handler.ts";
import { readBody } from "./read-body.ts";

/** What was asked for, as the endpoint's schemas say. */
export interface ReadRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
}

export interface PathOptions {
  /** Of the parameters of the endpoint's path. */
  readonly names: readonly string[];
  /** The value of one, decoded. */
  readonly param: (name: string) => string | undefined;
  /** The request as Node.js has it, if it came that way. */
  readonly incoming: IncomingMessage | undefined;
}

/**
 * Reads a request with the schemas of its endpoint.
 *
 * @throws ProblemError `invalid_request` with issues that quote no value; as {@link readBody} does
 */
export async function readRequest(
  endpoint: AnyEndpoint,
  request: Request,
  { names, param, incoming }: PathOptions,
): Promise<ReadRequest> {
  const params: Record<string, string> = {};
  for (const name of names) params[name] = readWith(parameterSchema(name), param(name));
  const query = endpoint.query ? readWith(endpoint.query, readQuery(request.url)) : undefined;
  if (endpoint.method === "GET") return { params, query, body: undefined };
  const given = await readBody(request, endpoint.maxBodyBytes ?? MAX_BODY_BYTES, incoming);
  if (endpoint.body) return { params, query, body: readWith(endpoint.body, given ?? {}) };
  if (given !== undefined && JSON.stringify(given) !== "{}") {
    throw new ProblemError("invalid_request", { issues: [{ path: "", message: "this endpoint takes no body" }] });
  }
  return { params, query, body: undefined };
}

function readWith<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = readMessage(schema, value);
  if (read.valid) return read.value;
  throw new ProblemError("invalid_request", { issues: read.issues });
}

/** @throws ProblemError for a name that is given twice: readers keep different ones */
function readQuery(url: string): Readonly<Record<string, string>> {
  const pairs = [...new URL(url).searchParams];
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length) {
    throw new ProblemError("invalid_request", { issues: [{ path: "", message: "a name is given twice" }] });
  }
  // Own properties, also of the name __proto__.
  return Object.fromEntries(pairs);
}
