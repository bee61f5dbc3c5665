import { expect, test } from "vitest";
import { readBaseUrl } from "./base-url.ts";

test.each([
  ["https://intentlock.acme.dev", "https://intentlock.acme.dev"],
  ["https://intentlock.acme.dev/", "https://intentlock.acme.dev"],
  ["https://acme.dev:8443/intentlock//", "https://acme.dev:8443/intentlock"],
  ["HTTPS://ACME.dev/a/b", "https://acme.dev/a/b"],
  ["http://localhost:4700", "http://localhost:4700"],
  ["http://127.0.0.1", "http://127.0.0.1"],
  ["http://127.12.0.255:4700/x/", "http://127.12.0.255:4700/x"],
  ["http://[::1]:4700", "http://[::1]:4700"],
])("%s is asked at %s", (given, expected) => {
  expect(readBaseUrl(given)).toBe(expected);
});

test.each<[string, unknown, string]>([
  ["nothing", undefined, "expected a URL"],
  ["a number", 4700, "expected a URL"],
  ["a URL object", new URL("https://acme.dev"), "expected a URL"],
  ["a host alone", "intentlock.acme.dev", "expected a URL"],
  ["plain http to another machine", "http://intentlock.acme.dev", "expected https:"],
  ["a host that begins like this machine's address", "http://127.0.0.1.evil.example", "expected https:"],
  ["a host that ends like it", "http://evil-localhost", "expected https:"],
  ["a host that is called localhost somewhere", "http://localhost.evil.example", "expected https:"],
  ["another address of IPv6", "http://[::2]", "expected https:"],
  ["another protocol", "file:///etc/passwd", "expected https:"],
  ["another protocol on this machine", "ftp://localhost", "expected https:"],
  ["a user", "https://alice@acme.dev", "expected no user"],
  ["a password", "https://:secret@acme.dev", "expected no user"],
  ["a query", "https://acme.dev/?key=1", "expected no user"],
  ["a fragment", "https://acme.dev/#top", "expected no user"],
])("%s is refused", (_name, given, words) => {
  expect(() => readBaseUrl(given)).toThrow(
    expect.objectContaining({
      code: "ERR_INVALID_OPTIONS",
      message: expect.stringMatching(new RegExp(`^baseUrl: ${words}`)),
    }),
  );
});
