const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** A URL under which nobody reads along: `https:`, or `http:` on this machine. */
export function parsePrivateUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  const isPrivate = url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.test(url.hostname));
  return url && isPrivate ? url : undefined;
}
