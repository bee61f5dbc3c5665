/**
 * Whether a request may come from a page of this server, or from no page at all. A browser says where a page is from in
 * `Origin` and `Sec-Fetch-Site`, and no page can change either.
 *
 * @param own URLs of the server: the one that it is reached by, and the one of the request itself. A page of an attacker's
 * host that resolves to this machine is let through by the latter, and has no cookie of this server to send.
 */
export function isSameOrigin(headers: Headers, own: readonly string[]): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return false;
  const origin = headers.get("origin");
  return origin === null || own.some((url) => URL.parse(url)?.origin === origin);
}
