import { describe, expect, test } from "vitest";
import { z } from "zod";
import { AGENT, aJwt, KEY, NOW, PLAN_ID } from "../../test/builders.ts";
import { encode, forge, seal } from "../../test/forge.ts";
import { APPROVAL_TOKEN_TYPE, openApprovalToken, signApprovalToken } from "./approval-token.ts";
import { chainEntry, startChain } from "./audit.ts";
import { AUDIT_BATCH_TYPE, describeBatch, openBatch, signBatch } from "./audit-batch.ts";
import { openReceipt, RECEIPT_TYPE, signReceipt } from "./audit-receipt.ts";
import { openPlanToken, PLAN_TOKEN_TYPE } from "./plan-token.ts";
import { claimsBytes, openClaims, signClaims, type TokenKind } from "./signed-token.ts";
import { generateSigningKey, type PublicKey, type SigningKey } from "./signing-key.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const ENTRIES = [chainEntry(startChain(PLAN_ID), { type: "closed" }, { at: NOW * 1000 }).entry];
const options = { audience: AGENT };

interface Kind {
  readonly type: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly sign: (claims: never, key: SigningKey) => Promise<string>;
  readonly open: (token: string, keys: readonly PublicKey[], audience?: string) => Promise<{ valid: boolean }>;
}

const approval: Kind = {
  type: APPROVAL_TOKEN_TYPE,
  claims: {
    ver: 1,
    iss: "server",
    aud: AGENT,
    jti: "approval-1",
    iat: NOW,
    exp: NOW + 60,
    holdId: "hold-1",
    planId: PLAN_ID,
    tool: "send_money",
    rule: "hold-it",
    digest: DIGEST,
    approvedBy: "bob@acme.dev",
  },
  sign: signApprovalToken,
  open: (token, keys, audience = AGENT) => openApprovalToken(token, keys, { audience }),
};
const receipt: Kind = {
  type: RECEIPT_TYPE,
  claims: { ver: 1, iss: "server", aud: AGENT, planId: PLAN_ID, seq: 1, head: DIGEST, receivedAt: NOW * 1000 },
  sign: signReceipt,
  open: (token, keys, audience = AGENT) => openReceipt(token, keys, { audience }),
};
const batch: Kind = {
  type: AUDIT_BATCH_TYPE,
  claims: { ver: 1, ...describeBatch(ENTRIES) },
  sign: signBatch,
  open: (token, [key]) => openBatch(token, key as PublicKey, ENTRIES),
};
const kinds: readonly Kind[] = [approval, receipt, batch];

async function isValid({ open }: Kind, token: string, keys: readonly PublicKey[] = [KEY.publicKey]): Promise<boolean> {
  return (await open(token, keys)).valid;
}

test("the types are what other programs look for", () => {
  expect([PLAN_TOKEN_TYPE, ...kinds.map(({ type }) => type)]).toEqual(
    ["plan", "approval", "receipt", "audit-batch"].map((name) => `intentlock-${name}+jwt`),
  );
});

describe.each(kinds)("$type", (kind) => {
  const header = { alg: "EdDSA", typ: kind.type, kid: KEY.kid };
  const sign = (key: SigningKey = KEY): Promise<string> => kind.sign(kind.claims as never, key);

  test("opens after it was signed, and the forger of these tests can sign", async () => {
    expect(await isValid(kind, await sign())).toBe(true);
    expect(await isValid(kind, forge(header, kind.claims))).toBe(true);
  });

  test("says algorithm, type and key in its header, and nothing else", async () => {
    const [first = ""] = (await sign()).split(".");
    expect(JSON.parse(Buffer.from(first, "base64url").toString())).toEqual(header);
  });

  test("opens as no other kind, even with the claims of it", async () => {
    for (const other of kinds.filter((one) => one !== kind)) {
      expect(await other.open(await sign(), [KEY.publicKey])).toEqual({
        valid: false,
        detail: `its type is not ${other.type}`,
      });
      expect(await isValid(other, forge(header, other.claims))).toBe(false);
    }
    expect(await openPlanToken(await sign(), [KEY.publicKey], options)).toMatchObject({ valid: false });
    expect(await isValid(kind, await aJwt())).toBe(false);
    expect(await isValid(kind, forge({ ...header, typ: PLAN_TOKEN_TYPE }, kind.claims))).toBe(false);
  });

  test("does not open with any character replaced, removed or doubled", async () => {
    const token = await sign();
    for (let index = 0; index < token.length; index += 3) {
      const [before, character, after] = [token.slice(0, index), token[index] as string, token.slice(index + 1)];
      const other = character === "A" ? "B" : "A";
      for (const text of [before + other + after, before + after, before + character + character + after]) {
        expect(await isValid(kind, text), `at ${index}`).toBe(false);
      }
    }
  });

  test.each<[string, (token: string) => unknown]>([
    ["padding", (token) => `${token}==`],
    ["white space after it", (token) => `${token}\n`],
    ["white space before it", (token) => ` ${token}`],
    ["unused bits of the signature", (token) => token.slice(0, -1) + "BRhx"["AQgw".indexOf(token.at(-1) as string)]],
    ["a fourth part", (token) => `${token}.x`],
    ["no signature", (token) => token.replace(/[^.]*$/, "")],
    ["the bytes before it", (token) => "x".repeat(40_000) + token],
    ["nothing", () => ""],
    ["a list", (token) => [token]],
    ["an object", (token) => new String(token)],
    ["undefined", () => undefined],
  ])("does not open with %s", async (_name, change) => {
    expect(await kind.open(change(await sign()) as string, [KEY.publicKey])).toEqual({
      valid: false,
      detail: "it is not the text of a token",
    });
  });

  test.each<[string, object]>([
    ["no type", { typ: undefined }],
    ["a JWT", { typ: "JWT" }],
    ["the type in capitals", { typ: kind.type.toUpperCase() }],
    ["alg none", { alg: "none" }],
    ["alg HS256", { alg: "HS256" }],
    ["the other name of its algorithm", { alg: "Ed25519" }],
    ["no kid", { kid: undefined }],
    ["a kid from the prototype", { kid: "__proto__" }],
    ["b64: false", { b64: false, crit: ["b64"] }],
    ["a key in it", { jwk: KEY.publicKey }],
    ["anything more", { note: "x" }],
  ])("does not open with a header that has %s, rightly signed", async (_name, change) => {
    expect(await isValid(kind, forge({ ...header, ...change }, kind.claims))).toBe(false);
  });

  test("does not open with another key, under its own or the pinned kid", async () => {
    const eve = await generateSigningKey();
    const { kid } = KEY;
    const impostor = { kid, publicKey: { ...eve.publicKey, kid }, privateKey: { ...eve.privateKey, kid } };
    expect(await isValid(kind, await sign(eve))).toBe(false);
    expect(await isValid(kind, await sign(impostor))).toBe(false);
    expect(await isValid(kind, forge({ ...header, jwk: eve.publicKey }, kind.claims, eve))).toBe(false);
    expect(await isValid(kind, await sign(), [eve.publicKey])).toBe(false);
    expect(await isValid(kind, await sign(), [])).toBe(false);
    expect(await isValid(kind, await sign(), [null as never])).toBe(false);
  });

  test.each(Object.keys(kind.claims))(
    "is neither signed nor opened without the claim %s, or with null",
    async (name) => {
      const { [name]: _, ...rest } = kind.claims;
      for (const claims of [rest, { ...kind.claims, [name]: name === "prev" ? 5 : null }]) {
        expect(await isValid(kind, forge(header, claims))).toBe(false);
        // Signing sets the version.
        if (name === "ver") continue;
        await expect(kind.sign(claims as never, KEY).then(() => "signed")).rejects.toMatchObject({
          code: "ERR_INVALID_CLAIMS",
        });
      }
    },
  );

  test.each<[string, (claims: object) => unknown]>([
    ["an unknown version", (claims) => ({ ...claims, ver: 2 })],
    ["a claim that nobody knows", (claims) => ({ ...claims, scope: "all" })],
    ["a claim twice", (claims) => JSON.stringify(claims).replace("{", '{"planId":"plan-2",')],
    ["an own __proto__", (claims) => JSON.stringify(claims).replace("{", '{"__proto__":{},')],
    ["a list around them", (claims) => [claims]],
    ["text that is not JSON", () => "{"],
    ["a byte order mark before them", (claims) => `\ufeff${JSON.stringify(claims)}`],
  ])("does not open with %s, rightly signed", async (_name, change) => {
    expect(await isValid(kind, forge(header, change(kind.claims)))).toBe(false);
  });

  test("does not open with claims that are not UTF-8", async () => {
    const bytes = Buffer.from(JSON.stringify(kind.claims).replace(PLAN_ID, "\u00ff"), "latin1").toString("base64url");
    expect(await isValid(kind, seal(`${encode(header)}.${bytes}`))).toBe(false);
  });
});

test.each([approval, receipt])("$type opens for its audience only", async ({ claims, sign, open }) => {
  const token = await sign(claims as never, KEY);
  for (const audience of ["agent-2", "", "Agent", null, [AGENT]]) {
    expect(await open(token, [KEY.publicKey], audience as string)).toEqual({
      valid: false,
      detail: "it was signed for another agent",
    });
  }
});

describe("a kind of token", () => {
  const note: TokenKind<{ readonly text: string }> = {
    type: "note+jwt",
    name: "a note",
    claims: z.strictObject({ text: z.string() }),
    maxCharacters: 5000,
  };
  const ofBytes = (bytes: number) => ({ text: "x".repeat(bytes - '{"text":""}'.length) });

  test("says whose fault it is that it does not verify", async () => {
    const token = await signClaims(note, { text: "" }, KEY);
    const eve = await generateSigningKey();
    const refused = async (keys: readonly PublicKey[]) => await openClaims(note, token, keys);
    expect(await refused([eve.publicKey])).toEqual({ valid: false, detail: "no pinned key has its key id" });
    const impostor = { ...eve.publicKey, kid: KEY.kid };
    expect(await refused([impostor])).toEqual({ valid: false, detail: "its signature does not verify" });
  });

  test("is signed with what is in a key now, whatever was in the same object before", async () => {
    const [one, other] = [await generateSigningKey(), await generateSigningKey()];
    const key = { kid: one.kid, publicKey: one.publicKey, privateKey: { ...one.privateKey } };
    const open = async ({ publicKey }: SigningKey) =>
      (await openClaims(note, await signClaims(note, { text: "" }, key), [publicKey])).valid;
    expect([await open(one), await open(one), await open(other)]).toEqual([true, true, false]);
    Object.assign(key, { kid: other.kid, publicKey: other.publicKey });
    Object.assign(key.privateKey, other.privateKey);
    expect([await open(one), await open(other)]).toEqual([false, true]);
    // A d of another key is no key, whatever was signed with before.
    key.privateKey.d = one.privateKey.d;
    await expect(signClaims(note, { text: "" }, key)).rejects.toMatchObject({ code: "ERR_INVALID_KEY" });
  });

  test("is verified with the key that is named, however many were before", async () => {
    const keys = await Promise.all(Array.from({ length: 3 }, generateSigningKey));
    for (let n = 0; n < 1100; n++) {
      const x = Buffer.from(`${n}`.padStart(32)).toString("base64url");
      await openClaims(note, await signClaims(note, { text: "" }, KEY), [{ ...KEY.publicKey, x }]);
    }
    for (const key of [...keys, ...keys]) {
      const token = await signClaims(note, { text: "" }, key);
      const verdicts = keys.map(
        async ({ publicKey }) => (await openClaims(note, token, [{ ...publicKey, kid: key.kid }])).valid,
      );
      expect(await Promise.all(verdicts)).toEqual(keys.map((one) => one === key));
    }
  });

  test("has room for its header beside the largest claims: 4 KB, and 3 bytes in 4 characters", async () => {
    expect([4096, 4100, 5000, 36_864].map(claimsBytes)).toEqual([0, 3, 678, 24_576]);
    const token = await signClaims(note, ofBytes(678), KEY);
    expect(await openClaims(note, token, [KEY.publicKey])).toMatchObject({ valid: true });
    await expect(signClaims(note, ofBytes(679), KEY)).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
  });

  test("is read up to its length, and no further", async () => {
    // A long type: what is left beside 4 KB is all that claims may have.
    const long = { ...note, type: "n".repeat(3500) };
    const token = await signClaims(long, { text: "" }, KEY);
    for (const [maxCharacters, valid] of [
      [token.length, true],
      [token.length - 1, false],
    ] as const) {
      expect(await openClaims({ ...long, maxCharacters }, token, [KEY.publicKey])).toMatchObject({ valid });
    }
  });

  test("is not signed with halves of two keys, and nothing of them is quoted", async () => {
    const eve = await generateSigningKey();
    const halves = { ...KEY, privateKey: { ...KEY.privateKey, d: eve.privateKey.d } };
    const error: unknown = await signClaims(note, { text: "" }, halves).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "ERR_INVALID_KEY" });
    expect(error).not.toHaveProperty("cause");
    expect(String(error)).not.toContain(eve.privateKey.d);
  });
});
