import { describe, expect, test } from "vitest";
import { AGENT, aJwt, anUnsignedToken, aPlan, claims, KEY, NOW, PLAN_ID } from "../../../test/builders.ts";
import { encode, forge } from "../../../test/forge.ts";
import { aSignRequest } from "../../../test/gate-conformance.ts";
import type { SignedPlanAnswer } from "../../core/api/index.ts";
import { APPROVAL_TOKEN_TYPE, generateSigningKey, PLAN_TOKEN_TYPE, type PlanClaims } from "../../core/index.ts";
import { KeySet } from "./key-set.ts";
import type { ServerClient } from "./server-client.ts";
import { assertSigned, type ServerToken, ServerTokens, toFacts } from "./server-tokens.ts";

const CLIENT = (await generateSigningKey()).publicKey;
const TASK = `sha256:${"7".repeat(64)}`;

function someTokens(): ServerTokens {
  return new ServerTokens(new KeySet({} as ServerClient, [KEY.publicKey]));
}

async function anAnswer(over: Partial<PlanClaims> = {}, key = KEY): Promise<SignedPlanAnswer> {
  const { planId, plan, exp } = claims(over);
  return { planId, plan, token: await aJwt(over, key), expiresAt: exp, serverTime: NOW * 1000 };
}

function aServerToken(over: Partial<PlanClaims>): ServerToken {
  return { opened: anUnsignedToken(over), signed: {} } as ServerToken;
}

/** The same signature under other claims. */
function changeClaims(token: string, over: Partial<PlanClaims>): string {
  const [header, , signature] = token.split(".");
  return `${header}.${encode(claims(over))}.${signature}`;
}

describe("what the server has signed", () => {
  test("is received with its token opened, for the agent that it names", async () => {
    const tokens = someTokens();
    const answer = await anAnswer();
    expect(tokens.agent).toBe("");
    const { signed, opened } = await tokens.receive(answer);
    const { serverTime: _, ...expected } = answer;
    expect(signed).toEqual(expected);
    expect(Object.isFrozen(signed)).toBe(true);
    expect(opened).toMatchObject({ valid: true, claims: { planId: PLAN_ID, aud: AGENT } });
    expect(tokens.agent).toBe(AGENT);
  });

  test("is another agent's from the second token on: it is refused", async () => {
    const tokens = someTokens();
    await tokens.receive(await anAnswer());
    await expect(tokens.receive(await anAnswer({ aud: "agent-2" }))).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: expect.stringContaining("The server's token is not valid: it was signed for another agent"),
    });
    expect(tokens.agent).toBe(AGENT);
  });

  test("is another agent's where it is known whose tokens these are", async () => {
    const tokens = someTokens();
    tokens.learnAgent("agent-2");
    tokens.learnAgent(AGENT);
    expect(tokens.agent).toBe("agent-2");
    await expect(tokens.receive(await anAnswer())).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
    expect(await tokens.open(await aJwt())).toMatchObject({ valid: false });
    expect(await tokens.open(await aJwt({ aud: "agent-2" }))).toMatchObject({ valid: true });
  });

  test("teaches nothing unless it is valid: what was made up does not keep the agent's own tokens out", async () => {
    const tokens = someTokens();
    const eve = await generateSigningKey();
    const madeUp = [
      await anAnswer({ aud: "agent-2" }, eve),
      { ...(await anAnswer({ aud: "agent-2" })), planId: "plan-2" },
    ];
    for (const answer of madeUp) {
      await expect(tokens.receive(answer)).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
      expect(tokens.agent).toBe("");
    }
    expect((await tokens.receive(await anAnswer())).opened.claims.aud).toBe(AGENT);
  });

  test("for two agents at once is taken for one of them", async () => {
    const tokens = someTokens();
    const answers = [await anAnswer(), await anAnswer({ aud: "agent-2" })];
    const results = await Promise.allSettled(answers.map((answer) => tokens.receive(answer)));
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const [lost] = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(lost?.reason).toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: "The server's token is not valid: it was signed for another agent",
    });
  });

  test("is nobody's before it is known whose tokens these are", async () => {
    expect(await someTokens().open(await aJwt())).toMatchObject({ valid: false });
  });

  test.each<[string, object]>([
    ["another plan's token", { planId: "plan-2" }],
    ["a token that ends at another time", { expiresAt: NOW + 891 }],
  ])("is refused: %s", async (_name, over) => {
    await expect(someTokens().receive({ ...(await anAnswer()), ...over })).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: "The server's token is not the one that its answer says it is",
    });
  });

  test.each<[string, () => Promise<string> | string]>([
    ["that somebody else has signed", async () => await aJwt({}, await generateSigningKey())],
    ["that nobody has signed", () => `${encode({ alg: "none", typ: PLAN_TOKEN_TYPE })}.${encode(claims())}.`],
    ["whose claims were changed", async () => changeClaims(await aJwt(), { sub: "eve@acme.dev" })],
    ["that is an approval", () => forge({ alg: "EdDSA", typ: APPROVAL_TOKEN_TYPE, kid: KEY.kid }, claims())],
  ])("is refused with a token %s", async (_name, make) => {
    const answer = { ...(await anAnswer()), token: await make() };
    await expect(someTokens().receive(answer)).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: expect.stringContaining("The server's token is not valid: "),
    });
  });

  test.each([
    ["no token", "token"],
    ["a token without claims", `a.${Buffer.from("[]").toString("base64url")}.c`],
    ["a token for nobody", `a.${Buffer.from('{"aud":["agent"]}').toString("base64url")}.c`],
  ])("is refused if it cannot be read: %s", async (_name, token) => {
    await expect(someTokens().receive({ ...(await anAnswer()), token })).rejects.toMatchObject({
      code: "ERR_INVALID_CLAIMS",
      message: "The server's token cannot be read",
    });
  });
});

describe("whether the server has signed what was asked", () => {
  const request = aSignRequest();
  const asked = { cnf: { jwk: CLIENT }, plan: request.plan, tools: { ...request.tools } };

  test("it has", () => {
    expect(() => assertSigned(aServerToken(asked), request, CLIENT)).not.toThrow();
    // A plan as it was written, with a field that says nothing.
    const written = { ...request, plan: { ...request.plan, note: undefined } as never };
    expect(() => assertSigned(aServerToken(asked), written, CLIENT)).not.toThrow();
  });

  const { jwk } = { jwk: KEY.publicKey };
  const [name = ""] = Object.keys(request.tools);
  const { [name]: _, ...fewer } = request.tools;
  test.each<[string, Partial<PlanClaims>]>([
    ["another client's key", { ...asked, cnf: { jwk } }],
    ["another client's key under the same id", { ...asked, cnf: { jwk: { ...jwk, kid: CLIENT.kid } } }],
    ["another plan", { ...asked, plan: aPlan({ maxCalls: 2 }) }],
    ["a plan that allows more", { ...asked, plan: aPlan({}, { tool: "delete_repo" }) }],
    ["another tool", { ...asked, tools: { ...request.tools, more: TASK } }],
    ["a tool less", { ...asked, tools: fewer }],
    ["another state of a tool", { ...asked, tools: { ...request.tools, [name]: TASK } }],
  ])("not with %s", (_name, over) => {
    expect(() => assertSigned(aServerToken(over), request, CLIENT)).toThrow(
      expect.objectContaining({
        code: "ERR_INVALID_CLAIMS",
        message: "The server has signed something else than was asked",
      }),
    );
  });

  test.each(["cnf", "tools"] as const)("not without %s", (name) => {
    const { [name]: _left, ...rest } = asked;
    expect(() => assertSigned(aServerToken(rest), request, CLIENT)).toThrow("something else");
  });
});

describe("what a gate knows of a plan", () => {
  test("is what its token says", () => {
    const { user, plan } = claims();
    const tools = { send_money: TASK };
    expect(toFacts(aServerToken({ tools, task: TASK }))).toEqual({ planId: PLAN_ID, plan, user, tools, task: TASK });
  });

  test("is no tools and no task of a token that names none", () => {
    expect(toFacts(aServerToken({}))).toMatchObject({ tools: {}, task: "" });
  });
});
