import { expect, test } from "vitest";
import { readTokenPayload } from "./token-payload.ts";

const encode = (text: string): string => `h.${Buffer.from(text).toString("base64url")}.s`;

test("says what a token says, in any letters", () => {
  expect(readTokenPayload(encode('{"aud":"agent-é✓","n":1}'))).toEqual({ aud: "agent-é✓", n: 1 });
});

test("reads the two letters that only base64url has", () => {
  const token = encode('{"a":"???>>>~~~"}');
  expect(token).toMatch(/-.*_|_.*-/);
  expect(readTokenPayload(token)).toEqual({ a: "???>>>~~~" });
});

test.each([
  ["nothing", ""],
  ["no token", "hello"],
  ["no base64url", "h.***.s"],
  ["no JSON", encode("hello")],
  ["no object", encode("[1]")],
  ["a name twice", encode('{"aud":"a","aud":"b"}')],
])("says nothing of %s", (_name, token) => {
  expect(readTokenPayload(token)).toBeUndefined();
});
