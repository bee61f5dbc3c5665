import { describe, expect, test } from "vitest";
import { ALICE, claims, KEY } from "../../test/builders.ts";
import { MAX_CLAIMS_BYTES, MAX_TOKEN_CHARACTERS, planClaimsSchema } from "./claims.ts";

function isValid(over: object): boolean {
  return planClaimsSchema.safeParse({ ...claims(), ...over }).success;
}

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("claims of a plan token", () => {
  test.each<[string, object]>([
    ["the least", {}],
    ["a user without roles and groups", { user: { email: ALICE, roles: [], groups: [] } }],
    ["roles that only the application knows", { user: { email: ALICE, roles: ["treasurer"], groups: [] } }],
    ["a time at the epoch", { iat: 0, exp: 0 }],
    ["fingerprints", { tools: { send_money: DIGEST } }],
    ["a fingerprint of a tool named __proto__", { tools: Object.fromEntries([["__proto__", DIGEST]]) }],
    ["no fingerprints", { tools: {} }],
    ["a digest of the task", { task: DIGEST }],
    ["a bound key", { cnf: { jwk: KEY.publicKey } }],
    ["an id of 200 characters", { jti: "x".repeat(200) }],
  ])("%s", (_name, over) => {
    expect(isValid(over)).toBe(true);
  });

  test.each(Object.keys(claims()))("%s has to be there", (name) => {
    const { [name]: _, ...rest } = claims() as unknown as Record<string, unknown>;
    expect(planClaimsSchema.safeParse(rest).success).toBe(false);
    expect(isValid({ [name]: null })).toBe(false);
  });

  test.each<[string, object]>([
    ["another version", { ver: 2 }],
    ["an unknown field", { admin: true }],
    ["an own __proto__", Object.fromEntries([["__proto__", {}]])],
    ["an empty id", { planId: "" }],
    ["an id of 201 characters", { planId: "x".repeat(201) }],
    ["a list of audiences", { aud: ["agent"] }],
    ["no e-mail address", { sub: "alice" }],
    ["a fraction", { exp: 0.5 }],
    ["a time that is not exact", { exp: 2 ** 53 }],
    ["a time as text", { iat: "0" }],
    ["groups as text", { user: { email: ALICE, roles: [], groups: "intern" } }],
    ["an empty group", { user: { email: ALICE, roles: [], groups: [""] } }],
    ["a user with more", { user: { email: ALICE, roles: [], groups: [], admin: true } }],
    ["a user with an e-mail that is none", { user: { email: "a b@c.d", roles: [], groups: [] } }],
    ["a fingerprint in capitals", { tools: { t: DIGEST.toUpperCase() } }],
    ["a short fingerprint", { tools: { t: DIGEST.slice(1) } }],
    ["a fingerprint and a line feed", { tools: { t: `${DIGEST}\n` } }],
    ["a fingerprint that is none of a tool named __proto__", { tools: Object.fromEntries([["__proto__", "x"]]) }],
    ["fingerprints in a list", { tools: [DIGEST] }],
    ["a bound key with its private half", { cnf: { jwk: KEY.privateKey } }],
    ["a bound key and more", { cnf: { jwk: KEY.publicKey, kid: "k" } }],
    ["a plan that is none", { plan: { goal: "g" } }],
    ["a policy that is none", { policy: { version: 1, rules: [] } }],
    ["a budget that is none", { budget: { session: { calls: "1" } } }],
  ])("not %s", (_name, over) => {
    expect(isValid(over)).toBe(false);
  });

  test("the most bytes fit into the longest token, with a header and a signature", () => {
    const header = Buffer.from(JSON.stringify({ alg: "EdDSA", typ: "intentlock-plan+jwt", kid: "\u0001".repeat(200) }));
    const payload = Math.ceil((MAX_CLAIMS_BYTES * 4) / 3);
    expect(header.toString("base64url").length + payload + 86 + 2).toBeLessThanOrEqual(MAX_TOKEN_CHARACTERS);
    expect(Number.isInteger(MAX_CLAIMS_BYTES)).toBe(true);
  });
});
