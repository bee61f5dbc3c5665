import { type Logger, pino } from "pino";
import { endpoints } from "../core/api/index.ts";
import { IntentlockError } from "../core/index.ts";
import { createKeyRing } from "./create-key-ring.ts";
import type { ServerContext } from "./handler.ts";
import { createHandlers } from "./handlers.ts";
import type { RateLimit } from "./http/authenticate.ts";
import { readClientAddress } from "./http/client-address.ts";
import { type AnyHandler, createRoutes } from "./http/routes.ts";
import { createPages } from "./inbox/create-pages.ts";
import { findPageFolder } from "./inbox/read-page-files.ts";
import { PlanSources } from "./plans/plan-sources.ts";
import type { Store } from "./store/index.ts";
import { createSweep } from "./sweep.ts";

export interface ServerOptions {
  /** Closed with the server. */
  readonly store: Store;
  /** Where people and agents reach the server: `https://intentlock.acme.dev`. It is `iss` of its tokens, and in links. */
  readonly publicUrl: string;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** One line for each request. Default: nothing is logged. */
  readonly log?: Logger | undefined;
  readonly rateLimits?:
    | {
        /** Refused API keys from one address. Default: 30 in a minute. */
        readonly keyFailures?: RateLimit | undefined;
      }
    | undefined;
  /**
   * Whether the inbox is answered at `/`, to be used in a browser. Default: true, from where the package has it; `folder`
   * is another place that it was built into, as a `file:` URL with a slash at its end.
   */
  readonly inbox?: boolean | { readonly folder: URL } | undefined;
  /**
   * Where a request comes from. Default: the address of the socket, if `env` is the one of `@hono/node-server`. Behind a
   * proxy it has to be read from what that proxy sets.
   */
  readonly clientAddress?: ((request: Request, env: unknown) => string) | undefined;
}

/** The reference server, without a socket. */
export interface IntentlockServer {
  /** Answers a request. Never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
  /** What its handlers work with, for those that work beside them. */
  readonly context: ServerContext;
  /** What has to be done from time to time: holds that ran out of time, plans that nobody closed. */
  sweep(): Promise<void>;
  /** Answers those that wait, lets what is under way end, and closes the store. */
  close(): Promise<void>;
}

/**
 * Makes the server: every endpoint of `core/api` over one store. Any number of servers may share a store.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS`
 */
export function createServer(options: ServerOptions): IntentlockServer {
  const clock = options.clock ?? Date.now;
  const log = options.log ?? pino({ level: "silent" });
  const { store, inbox = true } = options;
  const context: ServerContext = {
    store,
    clock,
    keys: createKeyRing({ store, clock }),
    log,
    publicUrl: readPublicUrl(options.publicUrl),
  };
  const sources = new PlanSources(context);
  const sweep = createSweep(context);
  const folder = typeof inbox === "object" ? inbox.folder : findPageFolder();
  const shutdown = new AbortController();
  const app = createRoutes({
    context,
    endpoints,
    // Each was made for the endpoint of its name.
    handlers: createHandlers(context, sources) as unknown as Readonly<Record<string, AnyHandler>>,
    keyFailures: options.rateLimits?.keyFailures ?? { count: 30, windowSeconds: 60 },
    clientAddress: options.clientAddress ?? readClientAddress,
    pages: inbox === false ? undefined : createPages({ folder, publicUrl: context.publicUrl }),
    shutdown: shutdown.signal,
  });
  const underWay = new Set<Promise<Response>>();
  let closing: Promise<void> | undefined;
  return {
    context,
    async sweep() {
      sources.dropExpired();
      await sweep();
    },
    async fetch(request, env) {
      const response = Promise.resolve(app.fetch(request, env as object | undefined));
      underWay.add(response);
      try {
        return await response;
      } finally {
        underWay.delete(response);
      }
    },
    close() {
      closing ??= (async () => {
        shutdown.abort();
        await Promise.allSettled(underWay);
        await store.close();
      })();
      return closing;
    },
  };
}

function readPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "publicUrl: expected an address like https://intentlock.acme.dev");
  }
  return url.href.replace(/\/+$/, "");
}
