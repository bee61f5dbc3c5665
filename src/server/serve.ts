import type { Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type LevelWithSilent, type Logger, pino } from "pino";
import { IntentlockError } from "../core/index.ts";
import { createServer, type IntentlockServer, type ServerOptions } from "./create-server.ts";
import { describeError } from "./http/log-request.ts";
import { openStore, type Store } from "./store/index.ts";
import { deliverOften } from "./webhooks/deliver-often.ts";

export interface ServeOptions extends Pick<ServerOptions, "clock" | "rateLimits" | "clientAddress" | "inbox"> {
  /** Default: 4700. 0: any that is free. */
  readonly port?: number | undefined;
  /** Default: `127.0.0.1`. Another one needs TLS in front: keys and cookies travel over it. */
  readonly host?: string | undefined;
  /** Where people and agents reach the server. Default: the address that it listens on. */
  readonly publicUrl?: string | undefined;
  /** Of PostgreSQL. Without it, a SQLite file. */
  readonly databaseUrl?: string | undefined;
  /** Default: `./.intentlock/intentlock.db`. */
  readonly sqlitePath?: string | undefined;
  /** A store that is open, instead of the two above. It is closed with the server. */
  readonly store?: Store | undefined;
  /** Default: `info`, as lines of JSON on standard output. */
  readonly logLevel?: LevelWithSilent | undefined;
  readonly log?: Logger | undefined;
  /** How often holds are ended that ran out of time, in milliseconds. Default: 5000. */
  readonly sweepEveryMs?: number | undefined;
  /** How long requests that are under way may take when the server stops, in milliseconds. Default: 10,000. */
  readonly closeTimeoutMs?: number | undefined;
}

/** A server that listens. */
export interface RunningServer {
  readonly server: IntentlockServer;
  /** Where it listens: `http://127.0.0.1:4700`. */
  readonly url: string;
  /** Takes no more requests, answers those that wait, lets the others end, and closes the store. */
  close(): Promise<void>;
}

/** How long a client may take to send a request. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Puts the server on a port.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` if it cannot listen there, or an option is none; as `openStore` does
 *
 * @example
 * import { startServer } from "intentlock/server";
 *
 * const running = await startServer({ port: 4700 });
 * process.once("SIGTERM", () => running.close());
 */
export async function startServer(options: ServeOptions = {}): Promise<RunningServer> {
  const { port = 4700, host = "127.0.0.1", databaseUrl, sqlitePath = "./.intentlock/intentlock.db" } = options;
  const log = options.log ?? pino({ level: options.logLevel ?? "info" });
  const store =
    options.store ?? (await openStore(databaseUrl === undefined ? { sqlite: sqlitePath } : { postgres: databaseUrl }));
  // Set before the first request: the port may be known only when it listens.
  let server: IntentlockServer | undefined;
  const socket = createAdaptorServer({
    fetch: (request, env) => (server as IntentlockServer).fetch(request, env),
    serverOptions: { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
  }) as Server;
  try {
    const url = await listen(socket, { port, host });
    server = createServer({ ...options, store, log, publicUrl: options.publicUrl ?? url });
    const ends = [sweepOften(server, options.sweepEveryMs ?? 5000), deliverOften(server.context)];
    log.info({ url, publicUrl: server.context.publicUrl }, "listening");
    let closing: Promise<void> | undefined;
    const running = server;
    const close = (): Promise<void> => {
      closing ??= stop({ server: running, socket, ends, timeoutMs: options.closeTimeoutMs ?? 10_000 });
      return closing;
    };
    return { server, url, close };
  } catch (error) {
    socket.close();
    await store.close();
    throw error;
  }
}

async function listen(
  socket: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<string> {
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.listen(port, host, () => {
        socket.off("error", reject);
        resolve();
      });
    });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new IntentlockError("ERR_INVALID_OPTIONS", `Cannot listen on ${host}, port ${port}${code}`, { cause });
  }
  const { port: actual } = socket.address() as AddressInfo;
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `http://${isIPv6(name) ? `[${name}]` : name}:${actual}`;
}

/** One sweep at a time, and what fails is tried again. */
function sweepOften(server: IntentlockServer, everyMs: number): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= server
      .sweep()
      .catch((error) => server.context.log.error({ error: describeError(error) }, "sweep failed"))
      .finally(() => {
        running = undefined;
      });
  }, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

async function stop({
  server,
  socket,
  ends,
  timeoutMs,
}: {
  readonly server: IntentlockServer;
  readonly socket: Server;
  /** End what is done beside requests. */
  readonly ends: readonly (() => Promise<void>)[];
  readonly timeoutMs: number;
}): Promise<void> {
  const { log } = server.context;
  const isSilent = new Promise<void>((resolve) => socket.close(() => resolve()));
  // Whoever does not send or read the rest of a request by then is cut off.
  const timer = setTimeout(() => socket.closeAllConnections(), timeoutMs);
  // A connection is idle once its answer was sent, which is after it was given.
  const idle = setInterval(() => socket.closeIdleConnections(), 50);
  try {
    await Promise.all(ends.map((end) => end()));
    await server.close();
    await isSilent;
  } finally {
    clearTimeout(timer);
    clearInterval(idle);
  }
  log.info("stopped");
}
