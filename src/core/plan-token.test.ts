import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGENT, aCall, aJwt, aPlan, aPolicy, aRule, claims, KEY, NOW, open } from "../../test/builders.ts";
import { plan, policy, user } from "../../test/decision-arbitraries.ts";
import { encode, forge, seal } from "../../test/forge.ts";
import { check } from "./check.ts";
import { MAX_CLAIMS_BYTES, MAX_TOKEN_CHARACTERS, type PlanClaims } from "./claims.ts";
import { IntentlockError } from "./errors.ts";
import { type OpenedToken, openPlanToken, PLAN_TOKEN_TYPE, signPlanToken, ValidToken } from "./plan-token.ts";
import { generateSigningKey, type PublicKey, type SigningKey } from "./signing-key.ts";

const HEADER = { alg: "EdDSA", typ: PLAN_TOKEN_TYPE, kid: KEY.kid };
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

async function isValid(jwt: string, keys: readonly PublicKey[] = [KEY.publicKey], audience = AGENT): Promise<boolean> {
  return (await openPlanToken(jwt, keys, { audience })).valid;
}

describe("a token that was signed opens", () => {
  test("with its claims, frozen, and its version", async () => {
    const { ver: _, ...given } = claims();
    const token = await open(await signPlanToken(given, KEY));
    expect(token).toBeInstanceOf(ValidToken);
    expect(token).toMatchObject({ valid: true, claims: claims() });
    expect(token.valid && Object.isFrozen(token.claims.policy.rules)).toBe(true);
  });

  test("with every optional claim", async () => {
    const digest = `sha256:${"0".repeat(64)}`;
    const over = {
      tools: { send_money: digest },
      task: digest,
      budget: { principal: { calls: 1, windowSeconds: 60 } },
      cnf: { jwk: KEY.publicKey },
    };
    expect(await open(await aJwt(over))).toMatchObject({ valid: true, claims: over });
  });

  test("whatever the plan, the policy and the user", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(plan, policy, user, async (plan, policy, user) => {
        const token = await open(await aJwt({ plan, policy, user }));
        expect(token.valid && { ...token.claims }).toEqual(claims({ plan, policy, user }));
      }),
      { numRuns: 50 },
    );
  });

  test("long after it has expired, and before it was issued: time is for check()", async () => {
    expect(await isValid(await aJwt({ exp: 1, iat: NOW * 2 }))).toBe(true);
  });

  test("among several keys, with the one of its kid", async () => {
    const other = await generateSigningKey();
    const keys = [other.publicKey, KEY.publicKey];
    expect(await isValid(await aJwt(), keys)).toBe(true);
    expect(await isValid(await aJwt({}, other), keys)).toBe(true);
  });

  test("with a key from a key set, which says more of it", async () => {
    const jwk = { ...KEY.publicKey, use: "sig", alg: "EdDSA" };
    expect(await isValid(await aJwt(), [jwk])).toBe(true);
  });

  test("the header says algorithm, type and key, and nothing else", async () => {
    const [header = ""] = (await aJwt()).split(".");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual(HEADER);
  });

  test("the forger of these tests can sign", async () => {
    expect(await isValid(forge(HEADER, claims()))).toBe(true);
  });
});

describe("a tampered token never opens", () => {
  test("each character replaced, each removed, each doubled", { timeout: 60_000 }, async () => {
    const jwt = await aJwt({ plan: aPlan() });
    for (let index = 0; index < jwt.length; index++) {
      const [before, character, after] = [jwt.slice(0, index), jwt[index] as string, jwt.slice(index + 1)];
      const other = BASE64URL[(BASE64URL.indexOf(character) + 1) % 64];
      for (const text of [before + other + after, before + after, before + character + character + after]) {
        expect(await isValid(text), `at ${index}`).toBe(false);
      }
    }
  });

  test("the last character has unused bits, and one way to write them", async () => {
    const jwt = await aJwt();
    const opening = [];
    for (const last of BASE64URL) if (await isValid(jwt.slice(0, -1) + last)) opening.push(last);
    expect(opening).toEqual([jwt.at(-1)]);
  });

  test.each<[string, (jwt: string) => string]>([
    ["padding", (jwt) => `${jwt}==`],
    ["a space after it", (jwt) => `${jwt} `],
    ["a line feed after it", (jwt) => `${jwt}\n`],
    ["a space before it", (jwt) => ` ${jwt}`],
    ["a space inside", (jwt) => `${jwt.slice(0, -5)} ${jwt.slice(-5)}`],
    ["a fourth part", (jwt) => `${jwt}.x`],
    ["an empty fourth part", (jwt) => `${jwt}.`],
    ["two parts", (jwt) => jwt.split(".").slice(0, 2).join(".")],
    ["no signature", (jwt) => `${jwt.split(".").slice(0, 2).join(".")}.`],
    ["no payload", (jwt) => jwt.split(".").with(1, "").join(".")],
    ["no header", (jwt) => jwt.split(".").with(0, "").join(".")],
    ["half a signature", (jwt) => jwt.slice(0, -43)],
    ["a signature twice", (jwt) => jwt + jwt.split(".")[2]],
    ["parts in another order", (jwt) => jwt.split(".").reverse().join(".")],
    ["the standard alphabet", (jwt) => jwt.replaceAll("-", "+").replaceAll("_", "/")],
    ["a scheme", (jwt) => `Bearer ${jwt}`],
    ["nothing", () => ""],
    ["dots", () => ".."],
    ["more than the longest token", () => "x".repeat(MAX_TOKEN_CHARACTERS + 1)],
  ])("%s", async (_name, tamper) => {
    // A payload of 0 to 2 bytes more, so that no alphabet and no padding is spared.
    for (const goal of ["pay?>", "pay?>?", "pay?>??"]) {
      const jwt = await aJwt({ plan: { ...aPlan(), goal } });
      expect(await open(tamper(jwt))).toEqual({ valid: false, detail: expect.any(String) });
    }
  });

  test.each([undefined, null, 5, {}, [], ["a.b.c"], new String("a.b.c")])("%s is no token", async (token) => {
    expect(await open(token as string)).toEqual({ valid: false, detail: "it is not the text of a token" });
  });

  const others: { readonly [Name in keyof PlanClaims]-?: unknown } = {
    ver: 2,
    iss: "evil",
    aud: "evil",
    sub: "eve@evil.example",
    iat: NOW + 1,
    exp: NOW + 1e6,
    jti: "token-2",
    planId: "plan-2",
    plan: aPlan({ tool: "read_file" }),
    user: { email: "eve@evil.example", roles: ["admin"], groups: [] },
    policy: aPolicy(aRule({ id: "another" })),
    tools: {},
    task: `sha256:${"1".repeat(64)}`,
    budget: {},
    cnf: { jwk: KEY.publicKey },
  };
  test.each(Object.entries(others))("claim %s", async (name, value) => {
    const [header, , signature] = (await aJwt()).split(".");
    const tampered = `${header}.${encode({ ...claims(), [name]: value })}.${signature}`;
    expect(await open(tampered)).toEqual({ valid: false, detail: "its signature does not verify" });
  });

  test("header and signature of one token, payload of another", async () => {
    const [one, two] = [(await aJwt()).split("."), (await aJwt({ jti: "token-2" })).split(".")];
    expect(await isValid([one[0], two[1], one[2]].join("."))).toBe(false);
  });
});

describe("a token that somebody else signed, or signed for something else, does not open", () => {
  test("another key under its own kid", async () => {
    const eve = await generateSigningKey();
    expect(await open(await aJwt({}, eve))).toEqual({ valid: false, detail: "no pinned key has its key id" });
  });

  test("another key under the same kid", async () => {
    const eve = await generateSigningKey();
    const impostor = {
      kid: KEY.kid,
      publicKey: { ...eve.publicKey, kid: KEY.kid },
      privateKey: { ...eve.privateKey, kid: KEY.kid },
    };
    expect(await open(await aJwt({}, impostor))).toEqual({ valid: false, detail: "its signature does not verify" });
  });

  test("another key inside the header", async () => {
    const eve = await generateSigningKey();
    const named = [{ ...eve.publicKey, kid: KEY.kid }, eve.publicKey];
    for (const jwk of named) {
      for (const kid of [KEY.kid, eve.kid]) {
        expect(await isValid(forge({ ...HEADER, kid, jwk }, claims(), eve))).toBe(false);
      }
    }
    expect(await isValid(forge({ ...HEADER, jku: "https://evil.example/jwks" }, claims(), eve))).toBe(false);
  });

  test("no keys, or what are none", async () => {
    const jwt = await aJwt();
    expect(await isValid(jwt, [])).toBe(false);
    for (const keys of [null, [null], [{ ...KEY.publicKey, kty: "oct" }], [{ ...KEY.publicKey, x: "" }]]) {
      expect(await isValid(jwt, keys as never)).toBe(false);
    }
  });

  test.each<[string, object]>([
    ["no type", { typ: undefined }],
    ["a JWT", { typ: "JWT" }],
    ["an approval", { typ: "intentlock-approval+jwt" }],
    ["the type in other letters", { typ: PLAN_TOKEN_TYPE.toUpperCase() }],
    ["the type as a media type", { typ: `application/${PLAN_TOKEN_TYPE}` }],
    ["the type in a list", { typ: [PLAN_TOKEN_TYPE] }],
    ["alg none", { alg: "none" }],
    ["alg None", { alg: "None" }],
    ["alg Ed25519", { alg: "Ed25519" }],
    ["alg HS256", { alg: "HS256" }],
    ["alg in a list", { alg: ["EdDSA"] }],
    ["no alg", { alg: undefined }],
    ["no kid", { kid: undefined }],
    ["a kid of another type", { kid: [KEY.kid] }],
    ["a kid from the prototype", { kid: "__proto__" }],
    ["b64: false", { b64: false, crit: ["b64"] }],
    ["b64: false, not critical", { b64: false }],
    ["b64: true", { b64: true, crit: ["b64"] }],
    ["something critical", { crit: ["exp"], exp: 1 }],
    ["nothing critical", { crit: [] }],
    ["a compressed payload", { zip: "DEF" }],
    ["a certificate", { x5c: [] }],
    ["anything more", { note: "x" }],
  ])("a header with %s, rightly signed", async (_name, change) => {
    expect(await isValid(forge({ ...HEADER, ...change }, claims()))).toBe(false);
  });

  test("b64: false with the payload as it is", async () => {
    const text = `${encode({ ...HEADER, b64: false, crit: ["b64"] })}.${JSON.stringify(claims())}`;
    expect(await isValid(seal(text))).toBe(false);
  });

  test("alg none without a signature, and with the old one", async () => {
    const jwt = await aJwt();
    const bare = `${encode({ ...HEADER, alg: "none" })}.${jwt.split(".")[1]}.`;
    expect(await isValid(bare)).toBe(false);
    expect(await isValid(bare + jwt.split(".")[2])).toBe(false);
  });

  test("HS256 with the public key as the secret", async () => {
    const secrets = [KEY.publicKey.x, Buffer.from(KEY.publicKey.x, "base64url"), JSON.stringify(KEY.publicKey)];
    for (const alg of ["HS256", "HS512", "EdDSA"]) {
      for (const secret of secrets) {
        const text = `${encode({ ...HEADER, alg })}.${encode(claims())}`;
        const mac = createHmac(alg === "HS512" ? "sha512" : "sha256", secret)
          .update(text)
          .digest("base64url");
        expect(await isValid(`${text}.${mac}`)).toBe(false);
        expect(await isValid(`${text}.${mac.padEnd(86, "A").slice(0, 86)}`)).toBe(false);
      }
    }
  });

  test("another audience", async () => {
    expect(await open(await aJwt({ aud: "agent-2" }))).toEqual({
      valid: false,
      detail: "it was signed for another agent",
    });
    for (const audience of ["", "Agent", "agent ", null, ["agent"]]) {
      expect(await isValid(await aJwt(), [KEY.publicKey], audience as never)).toBe(false);
    }
  });

  test.each<[string, unknown]>([
    ["a list of audiences", { ...claims(), aud: [AGENT, "agent-2"] }],
    ["an unknown version", { ...claims(), ver: 2 }],
    ["no version", { ...claims(), ver: undefined }],
    ["the version as text", { ...claims(), ver: "1" }],
    ["a claim that nobody knows", { ...claims(), scope: "all" }],
    ["nbf", { ...claims(), nbf: 0 }],
    ["no plan", { ...claims(), plan: undefined }],
    ["no policy", { ...claims(), policy: undefined }],
    ["a policy that allows by default", { ...claims(), policy: { ...aPolicy(), default: "allow" } }],
    ["no expiry", { ...claims(), exp: undefined }],
    ["an expiry as text", { ...claims(), exp: "9999999999" }],
    ["an expiry that is no number", `${JSON.stringify(claims()).slice(0, -1)},"exp":1e999}`],
    ["a list", [claims()]],
    ["null", "null"],
    ["text that is not JSON", "{"],
    ["nothing", ""],
    ["an own __proto__", `${JSON.stringify(claims()).slice(0, -1)},"__proto__":{}}`],
  ])("claims with %s, rightly signed", async (_name, payload) => {
    expect(await isValid(forge(HEADER, payload))).toBe(false);
  });

  test("claims that are not UTF-8", async () => {
    const text = `${encode(HEADER)}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]).toString("base64url")}`;
    expect(await isValid(seal(text))).toBe(false);
  });
});

describe("what check() takes for a token", () => {
  test("is what was opened, and cannot be changed", async () => {
    const opened = await open(await aJwt({ jti: "opened-here" }));
    expect(ValidToken.compiled(opened)).toHaveProperty("claims", opened.valid && opened.claims);
    expect(Object.isFrozen(opened)).toBe(true);
  });

  test.each([
    undefined,
    null,
    "a token",
    5,
    {},
    { valid: true, claims: claims() },
    Object.create(ValidToken.prototype),
    () => claims(),
  ])("is not %s", (value) => {
    expect(ValidToken.compiled(value)).toBeUndefined();
  });
});

describe("what is remembered", () => {
  test("a token is verified once, and is the same object then", async () => {
    const jwt = await aJwt({ jti: "remember-me" });
    const first = await open(jwt);
    expect(await open(jwt)).toBe(first);
  });

  test("not for another agent", async () => {
    const jwt = await aJwt({ jti: "remember-me-too" });
    expect(await isValid(jwt)).toBe(true);
    expect(await isValid(jwt, [KEY.publicKey], "agent-2")).toBe(false);
    expect(await isValid(jwt)).toBe(true);
  });

  test("not for other keys, also under the same kid", async () => {
    const jwt = await aJwt({ jti: "remember-me-as-well" });
    const eve = await generateSigningKey();
    expect(await isValid(jwt)).toBe(true);
    expect(await isValid(jwt, [])).toBe(false);
    expect(await isValid(jwt, [eve.publicKey])).toBe(false);
    expect(await isValid(jwt, [{ ...eve.publicKey, kid: KEY.kid }])).toBe(false);
  });

  test("no mixture of agent, keys and token is another", async () => {
    const jwt = await aJwt({ jti: "remember-the-last" });
    expect(await isValid(jwt)).toBe(true);
    const list = JSON.stringify([AGENT, [[KEY.kid, KEY.publicKey.x]]]);
    for (const audience of [list, `${AGENT}"`, list.slice(0, -1)]) {
      expect(await isValid(jwt, [KEY.publicKey], audience)).toBe(false);
      expect(await isValid(list + jwt, [KEY.publicKey], audience)).toBe(false);
    }
  });

  test("not without end: the oldest are forgotten, and verified again", { timeout: 60_000 }, async () => {
    const jwt = await aJwt({ jti: "oldest" });
    const first = await open(jwt);
    for (let index = 0; index < 1000; index++) await open(await aJwt({ jti: `newer-${index}` }));
    const again = await open(jwt);
    expect(again.valid).toBe(true);
    expect(again).not.toBe(first);
  });

  test("not many large ones", { timeout: 60_000 }, async () => {
    const goal = "x".repeat(10_000);
    const rules = Array.from({ length: 1500 }, (_, index) => aRule({ id: `rule-${index}`, reason: "x".repeat(1000) }));
    const policy = { version: 1, default: "block", rules } as const;
    const jwts = [];
    for (let index = 0; index < 9; index++)
      jwts.push(await aJwt({ jti: `large-${index}`, plan: { goal, steps: [] }, policy }));
    const first = await open(jwts[0] as string);
    expect(first.valid).toBe(true);
    for (const jwt of jwts) await open(jwt);
    expect(await open(jwts[0] as string)).not.toBe(first);
    // What is forgotten no longer counts: a small one is remembered as before.
    const small = await aJwt({ jti: "after-large-ones" });
    expect(await open(small)).toBe(await open(small));
  });
});

describe("signing", () => {
  test("the largest claims that can be signed can be opened", { timeout: 60_000 }, async () => {
    const rules = Array.from({ length: 3100 }, (_, index) => aRule({ id: `rule-${index}`, reason: "x".repeat(900) }));
    const policy = { version: 1, default: "block", rules } as const;
    const plan = { goal: "x", steps: [] };
    const room = MAX_CLAIMS_BYTES - JSON.stringify(claims({ policy, plan })).length + 1;
    expect(room).toBeGreaterThan(0);
    const fill = (length: number) => {
      const filled = rules.map((rule) => ({ ...rule }));
      let left = length;
      for (const rule of filled) {
        const more = Math.min(left, 100);
        rule.reason = "x".repeat(900 + more);
        left -= more;
      }
      return claims({ plan, policy: { ...policy, rules: filled } });
    };
    const largest = fill(room - 1);
    expect(JSON.stringify(largest).length).toBe(MAX_CLAIMS_BYTES);
    expect(await isValid(await signPlanToken(largest, KEY))).toBe(true);
    await expect(signPlanToken(fill(room), KEY)).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
  });

  test.each<[string, object]>([
    ["a version that is not ours", { ver: 2 }],
    ["an unknown claim", { scope: "all" }],
    ["a date", { exp: new Date() }],
    ["NaN", { exp: Number.NaN }],
    ["a fraction of a second", { exp: NOW + 0.5 }],
    ["a time before the epoch", { iat: -1 }],
    ["an empty audience", { aud: "" }],
    ["a user who is none", { sub: "alice" }],
    ["roles that are no list", { user: { email: "a@b.c", roles: "admin", groups: [] } }],
    ["a plan with a bad pattern", { plan: { goal: "g", steps: [{ tool: "t", args: { a: { regex: "(" } } }] } }],
    [
      "a plan with an operator for policies",
      { plan: { goal: "g", steps: [{ tool: "t", args: { a: { notIn: [] } } }] } },
    ],
    ["a fingerprint that is none", { tools: { t: "x" } }],
    ["a bound key with its private half", { cnf: { jwk: KEY.privateKey } }],
    ["a budget with a negative limit", { budget: { session: { calls: -1 } } }],
  ])("refuses %s", async (_name, over) => {
    const signing = signPlanToken(claims(over), KEY);
    await expect(signing).rejects.toBeInstanceOf(IntentlockError);
    await expect(signing).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
  });

  test("says which claim is wrong, and not with what", async () => {
    await expect(aJwt({ user: { email: "SECRET", roles: [], groups: [] } })).rejects.toThrow(
      /^The claims are not valid: user\.email: expected an e-mail address$/,
    );
  });

  test.each<[string, () => Promise<unknown> | unknown]>([
    ["nothing", () => undefined],
    ["a public key", () => KEY.publicKey],
    [
      "a pair that does not belong together",
      async () => ({ ...KEY, publicKey: (await generateSigningKey()).publicKey }),
    ],
    ["another kid", () => ({ ...KEY, kid: "k" })],
    [
      "a private half of another key",
      async () => {
        const { privateKey } = await generateSigningKey();
        return { ...KEY, privateKey: { ...KEY.privateKey, d: privateKey.d } };
      },
    ],
    ["a short key", () => ({ ...KEY, privateKey: { ...KEY.privateKey, d: KEY.privateKey.d.slice(1) } })],
    ["an RSA key", () => ({ ...KEY, privateKey: { ...KEY.privateKey, kty: "RSA" } })],
  ])("refuses %s as the key, without quoting it", async (_name, make) => {
    const error: unknown = await signPlanToken(claims(), (await make()) as SigningKey).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "ERR_INVALID_KEY" });
    expect(inspect(error)).not.toContain(KEY.privateKey.d.slice(1));
  });
});

test("an opened token does not lead to tokens that nobody signed", async () => {
  const opened = await open(await aJwt());
  const { constructor: Made } = opened as unknown as { constructor: new (claims: object) => OpenedToken };
  const forged = new Made({ ...claims(), exp: NOW * 2 });
  const input = { token: forged, call: aCall(), used: [0], now: NOW };
  expect(check(input)).toMatchObject({ verdict: "block", reason: "invalid_token" });
});
