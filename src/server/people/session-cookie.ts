import { SESSION_COOKIE } from "../../core/api/index.ts";

/** The token of a session: what {@link createSecret} makes. */
const TOKEN = /^[\w-]{43}$/;

/**
 * What the cookie is called. With TLS its name itself says that no neighbouring host and no page without TLS has set it:
 * browsers take a name that begins with `__Host-` from nobody else (RFC 6265bis, section 4.1.3.2).
 */
export function nameSessionCookie(publicUrl: string): string {
  return publicUrl.startsWith("https:") ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE;
}

/**
 * The token in a request's session cookie. Undefined also if there are two: somebody who controls a neighbouring host
 * can add one where there is no TLS, to make a person act in a session that is not theirs.
 */
export function readSessionCookie(headers: Headers, publicUrl: string): string | undefined {
  const name = nameSessionCookie(publicUrl);
  const values = (headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value] = values;
  return values.length === 1 && value !== undefined && TOKEN.test(value) ? value : undefined;
}

/** The header `Set-Cookie` that gives a session to a browser. Scripts cannot read it, and other sites cannot post with it. */
export function writeSessionCookie(token: string, { publicUrl, maxAgeSeconds }: CookieOptions): string {
  const { protocol, hostname } = new URL(publicUrl);
  // Without TLS it stays on this machine: over a network a browser keeps no such cookie, and nobody is signed in.
  const secure = protocol === "http:" && LOOPBACK.includes(hostname) ? "" : "; Secure";
  return `${nameSessionCookie(publicUrl)}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

export interface CookieOptions {
  readonly publicUrl: string;
  /** 0: the browser forgets it. */
  readonly maxAgeSeconds: number;
}
