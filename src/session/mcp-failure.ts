/**
 * Whether a tool has given the result by which MCP servers say that a call has failed. Frameworks hand it on like any
 * other; servers like to repeat in it what they were called with, which is then no word of the tool's.
 */
export function isMcpFailure(result: unknown): boolean {
  if (typeof result !== "object" || result === null) return false;
  const { isError, content } = result as { readonly isError?: unknown; readonly content?: unknown };
  return isError === true && Array.isArray(content);
}
