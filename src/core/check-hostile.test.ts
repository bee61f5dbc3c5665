import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { anything } from "../../test/arbitraries.ts";
import {
  aCall,
  aLedger,
  anApproval,
  anUnsignedToken,
  aPlan,
  aPolicy,
  aRule,
  aToken,
  claims,
  NOW,
  PLAN_ID,
  summarize,
} from "../../test/builders.ts";
import { plan as anyPlan, policy as anyPolicy, call, planCondition, user } from "../../test/decision-arbitraries.ts";
import type { Call } from "./call.ts";
import { type CheckInput, check } from "./check.ts";
import { MAX_ARGS_BYTES } from "./json.ts";
import { parseJson } from "./parse-json.ts";
import type { Plan } from "./plan.ts";
import { type OpenedToken, ValidToken } from "./plan-token.ts";
import { assertPolicy } from "./policy.ts";

/** For tests that compile hundreds of patterns: on a busy machine they take longer than the five seconds of others. */
const SLOW = { timeout: 60_000 };

let token: OpenedToken;
beforeAll(async () => {
  token = await aToken();
});

function ask(over: { readonly [Name in keyof CheckInput]?: unknown }): ReturnType<typeof check> {
  return check({ token, call: aCall(), used: [0], now: NOW, ...over } as CheckInput);
}

function throwing(): never {
  throw new Error("secret");
}

/** Throws when it is looked at, and the same when what it threw is looked at. */
function poison(): object {
  const handler: ProxyHandler<object> = {};
  for (const trap of Object.getOwnPropertyNames(Reflect)) {
    Object.assign(handler, {
      [trap]: () => {
        throw poison();
      },
    });
  }
  return new Proxy({}, handler);
}

function nested(depth: number): object {
  return depth === 0 ? {} : { x: nested(depth - 1) };
}

const cycle: Record<string, unknown> = {};
cycle.self = cycle;
let abyss = {};
for (let depth = 0; depth < 10_000; depth++) abyss = { x: abyss };

describe("arguments that are not an object of strict JSON are an invalid call", () => {
  test.each<[string, unknown]>([
    ["NaN", { a: Number.NaN }],
    ["Infinity", { a: Number.POSITIVE_INFINITY }],
    ["undefined", { a: undefined }],
    ["a hole", { a: new Array(1) }],
    ["a big integer", { a: 1n }],
    ["a symbol", { a: Symbol("a") }],
    ["a function", { a: throwing }],
    ["a date", { a: new Date(0) }],
    ["a map", { a: new Map() }],
    ["a class instance", { a: new (class Money {})() }],
    ["a boxed string", { a: new String("x") }],
    ["bytes", { a: new Uint8Array(1) }],
    ["a cycle", cycle],
    ["10,000 levels", abyss],
    ["101 levels", nested(100)],
    ["a lone surrogate", { a: "\ud800" }],
    ["a lone surrogate in a name", { "\ud800": 1 }],
    ["an array", [1]],
    ["null", null],
    ["a string", "x"],
    ["a number", 1],
    ["nothing", undefined],
    ["a promise", Promise.resolve({})],
    [
      "a getter that throws",
      {
        get a() {
          return throwing();
        },
      },
    ],
    ["more than 1 MiB", { a: "x".repeat(MAX_ARGS_BYTES) }],
    ["more than 1 MiB in UTF-8", { a: "€".repeat(MAX_ARGS_BYTES / 3) }],
    ["more than 1 MiB of names", Object.fromEntries([["x".repeat(MAX_ARGS_BYTES), 1]])],
    ["more than 1 MiB that were parsed and frozen before", parseJson(`{"a":"${"x".repeat(MAX_ARGS_BYTES)}"}`)],
    ["an array that says it is endless", new Proxy([], { get: (_, name) => (name === "length" ? 2 ** 32 - 1 : 1) })],
  ])("%s", (_name, args) => {
    const decision = ask({ call: aCall({ args }) });
    expect(decision).toMatchObject({ reason: "invalid_call", stage: "parse", callId: "call-1", planId: PLAN_ID });
    expect(JSON.stringify(decision).length).toBeLessThan(3000);
    expect(JSON.stringify(decision)).not.toContain("secret");
  });

  test.each<[string, unknown]>([
    ["100 levels", nested(99)],
    ["1 MiB", { a: "x".repeat(MAX_ARGS_BYTES - 8) }],
    ["no prototype", Object.create(null)],
    ["negative zero", { a: -0 }],
  ])("%s is fine", (_name, args) => {
    expect(summarize(ask({ call: aCall({ args }) }))).toBe("allow");
  });

  test("the message says where, and does not get long", () => {
    expect(ask({ call: aCall({ args: { to: [1, { date: Number.NaN }] } }) })).toHaveProperty(
      "message",
      expect.stringContaining("at to[1].date: NaN is not JSON"),
    );
    const deep = ask({ call: aCall({ args: { ["\u{1F600}\ud800".repeat(9999)]: { x: 1 } } }) });
    expect(JSON.stringify(deep).length).toBeLessThan(3000);
  });
});

describe("a call that cannot be named is an invalid call", () => {
  test.each<[string, object]>([
    ["a number as id", { callId: 5 }],
    ["no id", { callId: undefined }],
    ["an object as id", { callId: { toString: throwing } }],
    ["a lone surrogate in the id", { callId: "a\udfff" }],
    ["an id of 1,001 characters", { callId: "x".repeat(1001) }],
    ["a number as tool", { tool: 5 }],
    ["no tool", { tool: undefined }],
    ["an empty tool", { tool: "" }],
    ["a list with the tool", { tool: ["send_money"] }],
    ["an object like the tool", { tool: { toString: () => "send_money" } }],
    ["a boxed tool", { tool: new String("send_money") }],
    ["a tool with a line feed", { tool: "send_money\n" }],
    ["a tool with a space", { tool: " send_money" }],
    ["a tool of other letters", { tool: "sеnd_money" }],
    ["a tool of 65 characters", { tool: "x".repeat(65) }],
    ["a tool with a lone surrogate", { tool: "\ud800" }],
    ["a number as fingerprint", { fingerprint: 5 }],
    ["null as fingerprint", { fingerprint: null }],
    ["a lone surrogate in the fingerprint", { fingerprint: "\ud800" }],
    ["a fingerprint of 1,001 characters", { fingerprint: "x".repeat(1001) }],
  ])("%s", (_name, change) => {
    const decision = ask({ call: { ...aCall(), ...change } });
    expect(decision).toMatchObject({ verdict: "block", reason: "invalid_call", stage: "parse", planId: PLAN_ID });
    expect(decision.callId.isWellFormed() && decision.tool.isWellFormed()).toBe(true);
    expect([decision.callId.length <= 1000, decision.tool.length <= 64]).toEqual([true, true]);
  });

  test("arguments that throw what throws are a block too", () => {
    for (const args of [poison(), { a: [poison()] }]) {
      expect(ask({ call: aCall({ args }) })).toMatchObject({ verdict: "block", callId: "call-1", planId: PLAN_ID });
    }
  });

  test("an id of 1,000 characters is fine, an empty one too", () => {
    for (const callId of ["", "x".repeat(1000)])
      expect(ask({ call: aCall({ callId }) })).toMatchObject({ verdict: "allow", callId });
  });
});

describe("what answers differently each time", () => {
  test.each(["callId", "tool", "args", "fingerprint"] as const)("the call's %s is read once", (field) => {
    let reads = 0;
    const value = aCall()[field];
    const call = Object.defineProperty(aCall(), field, {
      get: () => {
        reads++;
        return reads === 1 ? value : "evil";
      },
    });
    expect(ask({ call })).toMatchObject({ verdict: "allow", callId: "call-1", tool: "send_money" });
    expect(reads).toBe(1);
  });

  test("each argument is read once", async () => {
    let reads = 0;
    const args = {
      get amount() {
        return ++reads === 1 ? 20 : 1_000_000;
      },
    };
    const budget = {
      session: { payoutMicros: 30 },
      payouts: [{ tool: "send_money", arg: "amount", microsPerUnit: 1 }],
    };
    const plan = aPlan({ args: { amount: { lte: 20 } } });
    const strict = await aToken({ plan, budget });
    expect(ask({ token: strict, call: aCall({ args }), evidence: { ledger: aLedger() } })).toMatchObject({
      payoutMicros: 20,
    });
    expect(reads).toBe(1);
  });

  test.each(["token", "call", "used", "now", "evidence"] as const)("the input's %s is read once", (field) => {
    let reads = 0;
    const input = { token, call: aCall(), used: [0], now: NOW, evidence: {} };
    const value = input[field];
    Object.defineProperty(input, field, { get: () => (++reads === 1 ? value : poison()) });
    expect(summarize(check(input))).toBe("allow");
    expect(reads).toBe(1);
  });
});

describe("counts that do not count", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["too few", []],
    ["a hole", new Array(1)],
    ["negative", [-1]],
    ["a fraction", [0.5]],
    ["NaN", [Number.NaN]],
    ["minus infinity", [Number.NEGATIVE_INFINITY]],
    ["a string", ["0"]],
    ["null inside", [null]],
    ["a big integer", [0n]],
    ["too large to be exact", [2 ** 53]],
    ["a number", 0],
    ["bytes", new Uint8Array(1)],
    ["something like a list", { 0: 0, length: 1 }],
    ["a string of them", "0"],
    ["something that throws", poison()],
  ])("%s", (_name, used) => {
    expect(ask({ used })).toMatchObject({ verdict: "block", reason: "internal_error" });
  });
});

describe("what openPlanToken() did not make is no token", () => {
  const look = { valid: true, claims: claims() };
  test.each<[string, () => unknown]>([
    ["a look-alike", () => look],
    ["a copy", () => ({ ...token })],
    ["an heir", () => Object.create(token as object)],
    ["a proxy of one", () => new Proxy(token as object, {})],
    ["a class that looks the same", () => Object.assign(Object.create(ValidToken.prototype), look)],
    ["a clone", () => structuredClone({ ...token })],
    ["text", () => "eyJ.eyJ.x"],
    ["null", () => null],
    ["nothing", () => undefined],
    ["an invalid one that says it is valid", () => ({ valid: true, detail: "x" })],
    ["an invalid one", () => ({ valid: false, detail: "its signature does not verify" })],
    ["an invalid one without words", () => ({ valid: false })],
  ])("%s", (_name, make) => {
    expect(ask({ token: make() })).toMatchObject({ verdict: "block", reason: "invalid_token", planId: "" });
  });

  test("the block says why", () => {
    expect(ask({ token: { valid: false, detail: "its signature does not verify" } })).toHaveProperty(
      "message",
      expect.stringContaining("its signature does not verify"),
    );
  });

  test("an opened token cannot be changed", () => {
    expect(() => Object.assign(token, { claims: { ...claims(), exp: 9e9 } })).toThrow(TypeError);
    expect(() => Object.assign((token as ValidToken).claims.plan, { steps: [] })).toThrow(TypeError);
  });
});

describe("it never throws, and allows nothing that it does not understand", () => {
  test.each(["token", "call", "used", "now"] as const)("anything as %s", (field) => {
    fc.assert(
      fc.property(anything, (value) => {
        fc.pre(!(field === "now" && typeof value === "number" && value < NOW + 900));
        fc.pre(!(field === "used" && Array.isArray(value) && Number.isSafeInteger(value[0]) && value[0] >= 0));
        expect(ask({ [field]: value }).verdict).toBe("block");
      }),
    );
  });

  test.each(["callId", "tool", "fingerprint"] as const)("anything but text as the call's %s", (field) => {
    fc.assert(
      fc.property(anything, (value) => {
        fc.pre(typeof value !== "string" && value !== undefined);
        expect(ask({ call: { ...aCall(), [field]: value } })).toMatchObject({ reason: "invalid_call" });
      }),
    );
  });

  test("anything as input, and what throws at every touch", () => {
    fc.assert(fc.property(anything, (input) => check(input as CheckInput).verdict === "block"));
    expect(check(poison() as unknown as CheckInput)).toMatchObject({ verdict: "block", reason: "internal_error" });
    for (const field of ["token", "call", "used", "now"]) {
      expect(ask({ [field]: poison() }).verdict).toBe("block");
      const input = Object.defineProperty({ token, call: aCall(), used: [0], now: NOW }, field, { get: throwing });
      expect(check(input)).toMatchObject({ verdict: "block", reason: "internal_error" });
    }
  });

  test("anything as evidence gives no approval and no budget", async () => {
    const held = await aToken({
      policy: aPolicy(aRule({ id: "hold-it", decision: "hold", approvers: { self: true } })),
    });
    const capped = await aToken({ budget: { session: { calls: 1 } } });
    fc.assert(
      fc.property(anything, (value) => {
        for (const evidence of [value, { approval: value }, { ledger: value }]) {
          expect(ask({ token: held, evidence }).verdict).not.toBe("allow");
          expect(ask({ token: capped, evidence }).verdict).toBe("block");
        }
      }),
    );
  });

  test("any field of an approval replaced by anything", async () => {
    const held = await aToken({
      policy: aPolicy(aRule({ id: "hold-it", decision: "hold", approvers: { self: true } })),
    });
    const approval = anApproval();
    expect(summarize(ask({ token: held, evidence: { approval } }))).toBe("allow");
    const field = fc.constantFrom("planId", "rule", "digest");
    fc.assert(
      fc.property(field, anything, (name, value) => {
        expect(ask({ token: held, evidence: { approval: { ...approval, [name]: value } } }).verdict).not.toBe("allow");
      }),
    );
  });
});

describe("work is bounded by the work it would be, not by a clock", () => {
  const huge = aCall({ args: { to: "a".repeat(1_000_000) } });

  test("1,000 rules with patterns for a huge argument", SLOW, async () => {
    const rules = Array.from({ length: 1000 }, (_, index) =>
      aRule({ id: `rule-${index}`, match: { args: { to: { glob: `*${index}*` } } } }),
    );
    const many = await aToken({ policy: aPolicy(...rules) });
    expect(ask({ token: many, call: huge })).toMatchObject({ reason: "invalid_call", stage: "parse" });
    expect(ask({ token: many })).toMatchObject({ reason: "no_matching_rule" });
    expect(ask({ token: many, call: aCall({ args: { to: "x7x" } }) })).toMatchObject({
      verdict: "allow",
      rule: "rule-7",
    });
  });

  test("a rule that comes after the work is done does not allow", async () => {
    const slow = Array.from({ length: 10 }, (_, index) =>
      aRule({ id: `slow-${index}`, match: { args: { to: { regex: `(a|b)*c{${index + 1}}` } } } }),
    );
    const many = await aToken({ policy: aPolicy(...slow, aRule()) });
    expect(ask({ token: many, call: huge })).toMatchObject({ reason: "invalid_call" });
    expect(ask({ token: many })).toMatchObject({ verdict: "allow", rule: "allow-in-plan" });
  });

  test("a plan of 200 steps with patterns", async () => {
    const steps = Array.from({ length: 200 }, (_, index) => ({ args: { to: { glob: `*a*${index}*b` } } }));
    const many = await aToken({ plan: aPlan(...steps) });
    expect(ask({ token: many, call: huge, used: steps.map(() => 0) })).toMatchObject({ reason: "invalid_call" });
  });

  test("structures compared with structures", () => {
    const list = Array.from({ length: 4000 }, () => 0);
    const rules = Array.from({ length: 200 }, (_, index) =>
      aRule({ id: `rule-${index}`, match: { args: { to: { eq: [...list, index] } } } }),
    );
    const many = anUnsignedToken({ policy: assertPolicy({ version: 1, default: "block", rules }) });
    const call = aCall({ args: { to: [...list, -1] } });
    expect(ask({ token: many, call })).toMatchObject({ reason: "invalid_call" });
  });

  test("rules for other tools cost nothing", async () => {
    const rules = Array.from({ length: 1000 }, (_, index) =>
      aRule({ id: `rule-${index}`, match: { tool: `other_${index}`, args: { to: { regex: "(a|b)*c" } } } }),
    );
    const many = await aToken({ policy: aPolicy(...rules, aRule()) });
    expect(ask({ token: many, call: huge })).toMatchObject({ verdict: "allow", rule: "allow-in-plan" });
  });
});

describe("a tighter plan never allows more than a looser one", () => {
  type Tighten = (plan: Plan, step: number) => Plan;
  const change =
    (over: (step: Plan["steps"][number]) => object): Tighten =>
    (plan, index) => ({
      ...plan,
      steps: plan.steps.map((step, at) => (at === index % plan.steps.length ? { ...step, ...over(step) } : step)),
    });
  const tightening: fc.Arbitrary<Tighten> = fc.oneof(
    fc.constant(change(() => ({ maxCalls: 1 }))),
    fc.constant(change(() => ({ args: { to: { in: [] } } }))),
    fc.constant(change(({ args }) => ({ args: { ...args, amount: { ...args?.amount, lte: 0 } } }))),
    planCondition.map((condition) =>
      change(({ args }) => (args && Object.hasOwn(args, "to") ? {} : { args: { ...args, to: condition } })),
    ),
    fc.constant<Tighten>((plan) => ({ ...plan, steps: plan.steps.slice(0, -1) })),
  );

  test("with the same counts", SLOW, () => {
    let allowed = 0;
    fc.assert(
      fc.property(
        anyPlan,
        fc.record({ policy: anyPolicy, user, call }),
        fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
        tightening,
        fc.nat(3),
        (plan, { policy, user, call }, used, tighten, step) => {
          const loose = anUnsignedToken({ plan, policy, user });
          const tight = anUnsignedToken({ plan: tighten(plan, step), policy, user });
          if (ask({ token: tight, call, used }).verdict !== "allow") return;
          allowed++;
          expect(ask({ token: loose, call, used }).verdict).toBe("allow");
        },
      ),
      { numRuns: 300 },
    );
    // Or the property is about nothing.
    expect(allowed).toBeGreaterThan(0);
  });

  test("a rule that blocks, put first, never makes an allow", SLOW, () => {
    fc.assert(
      fc.property(anyPlan, anyPolicy, call, (plan, policy, call) => {
        const [first = aRule()] = policy.rules;
        const block = aRule({ id: "put-first", match: first.match, decision: "block" });
        const loose = ask({ token: anUnsignedToken({ plan, policy }), call, used: [0, 0, 0, 0] });
        const strict = anUnsignedToken({ plan, policy: aPolicy(block, ...policy.rules) });
        if (ask({ token: strict, call, used: [0, 0, 0, 0] }).verdict === "allow") expect(loose.verdict).toBe("allow");
      }),
    );
  });
});

test("any call under any plan and policy has one verdict, and an allow keeps to both", SLOW, () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyPlan, anyPolicy, user, call, (plan, policy, user, given: Call) => {
      const decision = ask({
        token: anUnsignedToken({ plan, policy, user }),
        call: given,
        used: plan.steps.map(() => 0),
      });
      seen.add(decision.verdict);
      if (decision.verdict !== "allow") return;
      expect(plan.steps[decision.step]?.tool).toBe(given.tool);
      expect(policy.rules.find(({ id }) => id === decision.rule)?.decision).toBe("allow");
    }),
    { numRuns: 300 },
  );
  expect([...seen].sort()).toEqual(["allow", "block", "hold"]);
});
