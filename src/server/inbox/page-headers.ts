/**
 * What a page of the server may do: run and load what the server itself serves, and nothing else. No inline script or
 * style, no form, no frame around it, and no text that becomes HTML (Trusted Types).
 */
export const PAGE_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** On every answer that a browser may show. */
export function createPageHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": PAGE_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    // A year. Without TLS browsers ignore it, and an address that has none must not be kept from being reached.
    ...(publicUrl.startsWith("https:") && { "strict-transport-security": "max-age=31536000" }),
  };
}
