import { IncomingMessage } from "node:http";

/** The request as Node.js has it: `@hono/node-server` hands it on. Undefined for a request that did not come that way. */
export function findIncoming(env: unknown): IncomingMessage | undefined {
  const { incoming } = (env ?? {}) as { readonly incoming?: unknown };
  return incoming instanceof IncomingMessage ? incoming : undefined;
}

/** The address of the socket; all requests that did not come over one share theirs. */
export function readClientAddress(_request: Request, env: unknown): string {
  return findIncoming(env)?.socket.remoteAddress ?? "unknown";
}
