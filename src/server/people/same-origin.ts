import { ProblemError } from "../handler.ts";

/**
 * Whether a request may come from a page of this server, or from no page at all. A browser says where a page is from in
 * `Origin` and `Sec-Fetch-Site`, and no page can change either.
 *
 * @param own URLs of the server: the one that it is reached by, and the one of the request itself. A page of an attacker's
 * host that resolves to this machine is let through by the latter, and has no cookie of this server to send.
 * @param sites what `Sec-Fetch-Site` may be, if it is there
 */
export function isSameOrigin(
  headers: Headers,
  own: readonly string[],
  sites: readonly string[] = ["same-origin"],
): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && !sites.includes(site)) return false;
  const origin = headers.get("origin");
  return origin === null || own.some((url) => URL.parse(url)?.origin === origin);
}

/**
 * @param mayBeTyped whether a person may also type the address, or keep it as a bookmark (`Sec-Fetch-Site: none`)
 * @throws ProblemError `forbidden` for a request of a page that is not one of this server
 */
export function assertOwnPage(headers: Headers, publicUrl: string, mayBeTyped = false): void {
  const host = `${new URL(publicUrl).protocol}//${headers.get("host")}`;
  const sites = mayBeTyped ? ["same-origin", "none"] : ["same-origin"];
  if (isSameOrigin(headers, [publicUrl, host], sites)) return;
  throw new ProblemError("forbidden", { detail: "The request comes from a page of another site" });
}
