import { calculateJwkThumbprint } from "jose";
import { expect, test } from "vitest";
import { aJwt, claims, KEY, open } from "../../test/builders.ts";
import { openPlanToken, signPlanToken } from "./plan-token.ts";
import {
  boundKeySchema,
  generateSigningKey,
  parseSigningKey,
  publicKeySchema,
  signingKeySchema,
} from "./signing-key.ts";

test("a new key signs, is plain frozen JSON and survives being stored", async () => {
  const key = await generateSigningKey();
  expect([key, key.publicKey, key.privateKey].every(Object.isFrozen)).toBe(true);
  const stored = JSON.parse(JSON.stringify(key));
  expect(stored).toEqual(key);
  const jwt = await aJwt({}, stored);
  expect(await openPlanToken(jwt, [key.publicKey], { audience: "agent" })).toHaveProperty("valid", true);
});

test("its id is the thumbprint of its public half (RFC 7638)", async () => {
  const key = await generateSigningKey();
  expect(key.kid).toBe(await calculateJwkThumbprint({ ...key.publicKey }));
  expect(await calculateJwkThumbprint({ ...KEY.publicKey })).toBe(KEY.kid);
  expect([key.publicKey.kid, key.privateKey.kid]).toEqual([key.kid, key.kid]);
});

test("the public half has nothing of the private one", async () => {
  const { publicKey, privateKey } = await generateSigningKey();
  expect(Object.keys(publicKey).sort()).toEqual(["crv", "kid", "kty", "x"]);
  expect(JSON.stringify(publicKey)).not.toContain(privateKey.d);
});

test("each one is another", async () => {
  const [one, two] = [await generateSigningKey(), await generateSigningKey()];
  expect(one.privateKey.d).not.toBe(two.privateKey.d);
  expect((await open(await signPlanToken(claims(), two))).valid).toBe(false);
});

test.each([
  ["another type", { kty: "EC" }],
  ["another curve", { crv: "X25519" }],
  ["no id", { kid: "" }],
  ["an id that is too long", { kid: "k".repeat(201) }],
  ["bytes missing", { x: KEY.publicKey.x.slice(1) }],
  ["bytes too many", { x: `${KEY.publicKey.x}A` }],
  ["another alphabet", { x: `+${KEY.publicKey.x.slice(1)}` }],
])("a public key with %s is none", (_name, change) => {
  expect(publicKeySchema.safeParse({ ...KEY.publicKey, ...change }).success).toBe(false);
});

test("of a key set's other fields nothing is kept; a bound key may not have any", () => {
  const published = { ...KEY.publicKey, use: "sig" };
  expect(publicKeySchema.parse(published)).toEqual(KEY.publicKey);
  expect(boundKeySchema.safeParse(published).success).toBe(false);
  expect(boundKeySchema.safeParse(KEY.privateKey).success).toBe(false);
  expect(boundKeySchema.safeParse(KEY.publicKey).success).toBe(true);
});

test("what is no signing key is refused, in words that quote nothing of it", () => {
  expect(parseSigningKey(KEY)).toEqual(KEY);
  const { d } = KEY.privateKey;
  for (const given of [
    undefined,
    null,
    {},
    { ...KEY, kid: d },
    { ...KEY, privateKey: { ...KEY.privateKey, crv: d } },
  ]) {
    const refused = expect.objectContaining({ code: "ERR_INVALID_KEY", message: expect.not.stringContaining(d) });
    expect(() => parseSigningKey(given as never)).toThrow(refused);
  }
});

test("the halves of a pair belong together", async () => {
  const { publicKey, privateKey } = KEY;
  expect(signingKeySchema.safeParse(KEY).success).toBe(true);
  for (const change of [
    { kid: "k" },
    { publicKey: { ...publicKey, kid: "k" } },
    { publicKey: { ...publicKey, x: (await generateSigningKey()).publicKey.x } },
    { privateKey: { ...privateKey, kid: "k" } },
  ]) {
    expect(signingKeySchema.safeParse({ ...KEY, ...change }).success).toBe(false);
  }
});
