import { expect, test } from "vitest";
import { readTokenClaims } from "./plan-token-claims.ts";

const tokenOf = (claims: unknown): string => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

test.each<[string, string, ReturnType<typeof readTokenClaims>]>([
  [
    "a user and fingerprints",
    tokenOf({ sub: "Alice@Acme.dev", tools: { pay: "a", read: "b" } }),
    { user: "alice@acme.dev", tools: { pay: "a", read: "b" } },
  ],
  [
    "fingerprints that are none",
    tokenOf({ tools: { pay: "a", read: 5, list: null } }),
    { user: undefined, tools: { pay: "a" } },
  ],
  ["tools that are null", tokenOf({ sub: "a@x.org", tools: null }), { user: "a@x.org", tools: {} }],
  ["tools that are a text", tokenOf({ sub: "a@x.org", tools: "ab" }), { user: "a@x.org", tools: {} }],
  ["no claims", "token", { user: undefined, tools: {} }],
])("the text of a token that has %s", (_name, token, claims) => {
  expect(readTokenClaims(token)).toEqual(claims);
});
