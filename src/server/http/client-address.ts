/** The address of the socket, as `@hono/node-server` hands it on; all others share one. */
export function readClientAddress(_request: Request, env: unknown): string {
  const { incoming } = (env ?? {}) as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: unknown } };
  };
  const address = incoming?.socket?.remoteAddress;
  return typeof address === "string" ? address : "unknown";
}
