import { IntentlockError } from "../../core/index.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The server's base URL, without a slash at the end.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` unless it is `https:`, or `http:` on this machine, with nothing beside
 * host, port and path: whoever reads along has the key
 */
export function readBaseUrl(value: unknown): string {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (!url) throw invalid("expected a URL, like https://intentlock.acme.dev");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK.test(url.hostname))) {
    throw invalid("expected https:, or http: on this machine alone");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw invalid("expected no user, no query and no fragment in it: the key is apiKey");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function invalid(what: string): IntentlockError {
  return new IntentlockError("ERR_INVALID_OPTIONS", `baseUrl: ${what}`);
}
