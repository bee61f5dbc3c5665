import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { samples } from "../../../test/api-samples.ts";
import { anything } from "../../../test/arbitraries.ts";
import { ALICE, aCall, KEY } from "../../../test/builders.ts";
import { MAX_BATCH_ENTRIES } from "../audit-batch.ts";
import { MAX_ARGS_BYTES } from "../json.ts";
import { type AnyEndpoint, endpoints, fillPath, parameterSchema, type ReadMessage, readMessage } from "./index.ts";

function read(name: keyof typeof endpoints, over: object): ReadMessage<unknown> {
  const { body } = endpoints[name] as AnyEndpoint;
  if (!body) throw new Error("no body");
  return readMessage(body, { ...samples[name].body, ...over });
}

function readQuery(name: keyof typeof endpoints, query: object): ReadMessage<unknown> {
  const schema = (endpoints[name] as AnyEndpoint).query;
  if (!schema) throw new Error("no query");
  return readMessage(schema, query);
}

describe("a person in a request", () => {
  test.each([
    ["Alice@ACME.dev", ALICE],
    ["zoe\u0308@acme.dev", "zo\u00eb@acme.dev"],
  ])("%s is normalised", (given, email) => {
    expect(read("signPlan", { user: given })).toMatchObject({ valid: true, value: { user: email } });
    const key = read("createKey", { owner: given, actsFor: [given] });
    expect(key).toMatchObject({ valid: true, value: { owner: email, actsFor: [email] } });
    expect(parameterSchema("email").parse(given)).toBe(email);
  });

  test.each([
    "alice",
    "",
    "a@b@c",
    " alice@acme.dev",
    "alice@acme.dev\n",
    "alice@acme.dev\u0000",
    "\u212ale@acme.dev",
    "al\u200bice@acme.dev",
    `${"x".repeat(250)}@acme.dev`,
    5,
    null,
    [ALICE],
    { email: ALICE },
  ])("%j is refused", (user) => {
    expect(read("signPlan", { user })).toMatchObject({ valid: false, issues: [{ path: "user" }] });
    expect(parameterSchema("email").safeParse(user).success).toBe(false);
  });
});

describe("a plan to sign", () => {
  test.each<[string, object]>([
    ["a task without words", { task: { instruction: " \n" } }],
    ["a task as text", { task: "Pay" }],
    ["answers among the messages", { task: { instruction: "Pay", earlier: [{ role: "assistant" }] } }],
    ["a fingerprint that is none", { tools: { send_money: "x" } }],
    ["a fingerprint that is none of a tool named __proto__", { tools: JSON.parse('{"__proto__":"x"}') }],
    ["fingerprints in a list", { tools: [] }],
    ["a client key with its private half", { clientKey: KEY.privateKey }],
    ["a client key of another kind", { clientKey: { ...KEY.publicKey, crv: "P-256" } }],
    ["approval as text", { approvePlan: "false" }],
    ["roles of the person", { roles: ["admin"] }],
  ])("is refused with %s", (_name, over) => {
    expect(read("signPlan", over).valid).toBe(false);
  });

  test("may be any plan: what is wrong with it is for parsePlan() to say", () => {
    for (const plan of [{}, [], "x", null]) expect(read("signPlan", { plan }).valid).toBe(true);
    expect(read("signPlan", { plan: undefined }).valid).toBe(false);
  });
});

describe("a call to check", () => {
  const call = (over: object) => read("check", { call: { ...aCall(), ...over } });

  test("may be malformed: that is for check() to say", () => {
    for (const over of [{ tool: "" }, { callId: "" }, { tool: "x".repeat(5000) }, { args: null }, { args: [1] }]) {
      expect(call(over).valid).toBe(true);
    }
    const { args: _, ...bare } = aCall();
    expect(read("check", { call: bare }).valid).toBe(true);
  });

  test.each<[string, object]>([
    ["a verdict", { verdict: "allow" }],
    ["a name that is no text", { tool: ["send_money"] }],
    ["an approval in place of its token", { approval: { approvedBy: ALICE } }],
    ["a refusal for no reason", { refusal: { reason: "why_not", stage: "gate", detail: "x" } }],
    ["a refusal with more", { refusal: { reason: "aborted", stage: "gate", detail: "x", verdict: "allow" } }],
    ["a lone surrogate", { callId: "\ud800" }],
  ])("is refused with %s", (_name, over) => {
    expect(call(over).valid).toBe(false);
  });
});

describe("other requests", () => {
  const url = (text: unknown) => read("createWebhook", { url: text }).valid;
  const outcome = (over: object) => read("recordOutcome", { outcome: over }).valid;
  test.each<[string, boolean, boolean]>([
    [
      "a hold with the largest arguments",
      read("openHold", { args: { x: "x".repeat(MAX_ARGS_BYTES - 8) } }).valid,
      true,
    ],
    ["a hold with more", read("openHold", { args: { x: "x".repeat(MAX_ARGS_BYTES) } }).valid, false],
    ["a hold that names its approver", read("openHold", { approvedBy: ALICE }).valid, false],
    ["a decision that names its person", read("decideHold", { person: ALICE }).valid, false],
    ["a decision that is neither", read("decideHold", { decision: "approved" }).valid, false],
    ["a batch of none", read("uploadAudit", { entries: [] }).valid, false],
    ["a batch of too many", read("uploadAudit", { entries: new Array(MAX_BATCH_ENTRIES + 1).fill(1) }).valid, false],
    ["the end of a plan", outcome({ type: "closed", planId: "plan-1" }), true],
    ["the end of a plan and more", outcome({ type: "closed", planId: "plan-1", status: "ok" }), false],
    ["an outcome that there is not", outcome({ type: "outcome", planId: "p", decisionSeq: 0, status: "fine" }), false],
    ["a time below 0", outcome({ type: "outcome", planId: "p", decisionSeq: 0, status: "ok", durationMs: -1 }), false],
    ["a role that there is not", read("savePerson", { roles: ["owner"] }).valid, false],
    ["a group with a line feed", read("savePerson", { groups: ["a\nb"] }).valid, false],
    ["an empty group", read("savePerson", { groups: [""] }).valid, false],
    ["a key for nobody", read("createKey", { actsFor: [] }).valid, false],
    ["an endless replay", read("testPolicy", { replay: 1e9 }).valid, false],
    [
      "a webhook on this machine",
      url("http://127.0.0.1:8080/x") && url("http://[::1]/") && url("http://localhost/"),
      true,
    ],
    ["a webhook in the clear", url("http://acme.dev/"), false],
    [
      "a webhook that looks local",
      url("http://localhost.evil.example/") || url("http://127.0.0.1@evil.example"),
      false,
    ],
    ["a webhook with a password", url("https://:b@acme.dev/"), false],
    ["a webhook with a user name", url("https://a@acme.dev/"), false],
    ["a webhook that is a script", url("javascript:alert(1)") || url("file:///etc/passwd") || url("/x"), false],
  ])("%s", (_name, valid, expected) => {
    expect(valid).toBe(expected);
  });
});

describe("a query", () => {
  test.each<[string, object, object | undefined]>([
    ["nothing", {}, {}],
    ["a wait", { waitSeconds: "30" }, { waitSeconds: 30 }],
    ["no wait", { waitSeconds: "0" }, { waitSeconds: 0 }],
    ["too long a wait", { waitSeconds: "61" }, undefined],
    ["a wait that is none", { waitSeconds: "" }, undefined],
    ["a wait below 0", { waitSeconds: "-1" }, undefined],
    ["a wait in hexadecimal", { waitSeconds: "0x1" }, undefined],
    ["a wait without end", { waitSeconds: "Infinity" }, undefined],
    ["two waits", { waitSeconds: ["1", "2"] }, undefined],
    ["something else", { wait: "1" }, undefined],
  ])("%s", (_name, query, value) => {
    const result = readQuery("getHold", query);
    expect(result).toMatchObject(value === undefined ? { valid: false } : { valid: true, value });
  });
});

describe("a path", () => {
  test("is filled with what is escaped", () => {
    expect(fillPath("/v1/people/{email}", { email: "a/b?c#d@acme.dev" })).toBe("/v1/people/a%2Fb%3Fc%23d%40acme.dev");
    expect(fillPath("/v1/agents/{a}/policies/{b}", { a: "1", b: "2" })).toBe("/v1/agents/1/policies/2");
  });

  test.each(["", ".", "..", "...", undefined, null, 5, {}, "\ud800"])("is not filled with %j", (holdId) => {
    expect(() => fillPath("/v1/holds/{holdId}/claim", { holdId: holdId as string })).toThrow(TypeError);
  });

  test("is not filled with what objects inherit", () => {
    expect(() => fillPath("/v1/{constructor}", {})).toThrow(TypeError);
  });

  test.each<[string, string, boolean]>([
    ["holdId", "hold_1-A", true],
    ["holdId", "..", false],
    ["holdId", "a/b", false],
    ["holdId", "a%2fb", false],
    ["holdId", "", false],
    ["holdId", "x".repeat(201), false],
    ["version", "current", true],
    ["version", "12", true],
    ["version", "0", false],
    ["version", "01", false],
    ["version", "1e9", false],
    ["email", ALICE, true],
  ])("parameter %s: %s", (name, value, expected) => {
    expect(parameterSchema(name).safeParse(value).success).toBe(expected);
  });
});

describe("reading", () => {
  const bodies = Object.values<AnyEndpoint>(endpoints).flatMap(({ body, query }) => [body, query]);
  const schemas = bodies.filter((schema) => schema !== undefined);

  test("anything throws nothing, and takes no request for it", () => {
    fc.assert(
      fc.property(anything, fc.nat(schemas.length - 1), (value, index) => {
        const result = readMessage(schemas[index] as z.ZodType, value);
        // Some take an empty object.
        expect(result.valid ? result.value : {}).toEqual({});
      }),
    );
  });

  test("says where, and nothing of the value", () => {
    const result = read("signPlan", { user: "SECRET", task: { instruction: 5, secret: "SECRET" } });
    expect(result).toMatchObject({ valid: false });
    const paths = result.valid ? [] : result.issues.map(({ path }) => path);
    expect(paths).toEqual(["user", "task.instruction", "task.secret"]);
    expect(JSON.stringify(result)).not.toContain("SECRET");
  });

  test("looks at a value once", () => {
    let count = 0;
    const body = {
      get decision() {
        return count++ === 0 ? "reject" : "approve";
      },
    };
    expect(readMessage(endpoints.decideHold.body as never, body)).toEqual({
      valid: true,
      value: { decision: "reject" },
    });
  });
});
