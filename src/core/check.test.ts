import { describe, expect, test } from "vitest";
import {
  ALICE,
  aCall,
  aLedger,
  anApproval,
  anEmptyPolicy,
  aPlan,
  aPolicy,
  aRule,
  aToken,
  decide,
  NOW,
  PLAN_ID,
  summarize,
} from "../../test/builders.ts";
import { type CheckInput, check, LEEWAY_SECONDS } from "./check.ts";
import type { PlanClaims } from "./claims.ts";
import type { PolicyCondition } from "./condition.ts";
import { fingerprintTool } from "./fingerprint.ts";
import type { Json } from "./json.ts";
import type { PlanStep } from "./plan.ts";
import type { Match, PolicyRule } from "./policy.ts";
import { BLOCK_REASONS, type Decision } from "./verdict.ts";

const FINGERPRINT = fingerprintTool({ name: "send_money", description: "Sends money", inputSchema: {} });
const OTHER_FINGERPRINT = fingerprintTool({ name: "send_money", description: "Sends all money", inputSchema: {} });
const HOLD = aRule({ id: "hold-it", decision: "hold", approvers: { roles: ["approver"] } });

/** A call under a plan, and all that the decision rests on. */
interface Scenario {
  readonly over: Partial<PlanClaims>;
  readonly input: Omit<CheckInput, "token">;
  readonly token?: CheckInput["token"];
}

const FINE: Scenario = {
  over: { tools: { send_money: FINGERPRINT }, plan: aPlan({ maxCalls: 1 }) },
  input: { call: aCall({ fingerprint: FINGERPRINT }), used: [0], now: NOW, evidence: { ledger: aLedger() } },
};

async function run({ over, input, token }: Scenario): Promise<Decision> {
  return check({ token: token ?? (await aToken(over)), ...input });
}

/** What can go wrong with a call, in the order in which it is looked for. */
const FAILURES: readonly {
  readonly name: string;
  readonly expected: object;
  readonly fail: (scenario: Scenario) => Scenario;
}[] = [
  {
    name: "the token is not valid",
    expected: { reason: "invalid_token", stage: "token", planId: "" },
    fail: (scenario) => ({ ...scenario, token: { valid: false, detail: "it is not the text of a token" } }),
  },
  {
    name: "the token has expired",
    expected: { reason: "token_expired", stage: "token" },
    fail: ({ over, ...rest }) => ({ ...rest, over: { ...over, exp: NOW - LEEWAY_SECONDS } }),
  },
  {
    name: "the arguments are not JSON",
    expected: { reason: "invalid_call", stage: "parse" },
    fail: withCall({ args: { amount: Number.NaN } }),
  },
  {
    name: "the tool is not in the plan",
    expected: { reason: "not_in_plan", stage: "plan" },
    fail: withCall({ tool: "send_more_money" }),
  },
  {
    name: "the tool has changed",
    expected: { reason: "tool_changed", stage: "plan" },
    fail: withCall({ fingerprint: OTHER_FINGERPRINT }),
  },
  {
    name: "the arguments are not in the plan",
    expected: { reason: "not_in_plan", stage: "plan" },
    fail: ({ over, ...rest }) => ({
      ...rest,
      over: { ...over, plan: aPlan({ maxCalls: 1, args: { to: { eq: "nobody" } } }) },
    }),
  },
  {
    name: "the calls are used up",
    expected: { reason: "call_limit", stage: "limits", step: 0 },
    fail: ({ input, ...rest }) => ({ ...rest, input: { ...input, used: [1] } }),
  },
  {
    name: "no rule matches",
    expected: { reason: "no_matching_rule", stage: "policy", step: 0 },
    fail: ({ over, ...rest }) => ({ ...rest, over: { ...over, policy: anEmptyPolicy() } }),
  },
  {
    name: "the budget is used up",
    expected: { reason: "budget_exhausted", stage: "budget", step: 0 },
    fail: ({ over, ...rest }) => ({ ...rest, over: { ...over, budget: { session: { calls: 0 } } } }),
  },
];

function withCall(change: Parameters<typeof aCall>[0]): (scenario: Scenario) => Scenario {
  return ({ input, ...rest }) => ({ ...rest, input: { ...input, call: { ...input.call, ...change } } });
}

describe("the order of the stages", () => {
  test("a call that nothing is wrong with is allowed", async () => {
    expect(await run(FINE)).toEqual({
      verdict: "allow",
      callId: "call-1",
      tool: "send_money",
      planId: PLAN_ID,
      step: 0,
      rule: "allow-in-plan",
      budgetRemaining: null,
    });
  });

  test.each(FAILURES)("$name", async ({ fail, expected }) => {
    expect(await run(fail(FINE))).toMatchObject({ verdict: "block", planId: PLAN_ID, ...expected });
  });

  const pairs = FAILURES.flatMap((first, index) => FAILURES.slice(index + 1).map((second) => ({ first, second })));
  test.each(pairs)("$first.name comes before $second.name", async ({ first, second }) => {
    expect(await run(first.fail(second.fail(FINE)))).toMatchObject(first.expected);
    expect(await run(second.fail(first.fail(FINE)))).toMatchObject(first.expected);
  });

  test("everything wrong at once is the first", async () => {
    const worst = FAILURES.reduceRight((scenario, { fail }) => fail(scenario), FINE);
    expect(await run(worst)).toMatchObject({ reason: "invalid_token" });
  });

  test("a rule that blocks comes before the budget, a rule that holds too", async () => {
    const budget = { session: { calls: 0 } };
    const block = aPolicy(aRule({ id: "never", decision: "block" }));
    expect(summarize(await decide({ budget, policy: block }))).toBe("block:never");
    expect(summarize(await decide({ budget, policy: aPolicy(HOLD) }))).toBe("hold:hold-it");
  });

  test("something that throws is an internal error, and says nothing of what was thrown", async () => {
    const used = new Proxy([0], {
      get: () => {
        throw new Error("secret");
      },
    });
    const decision = await run({ ...FINE, input: { ...FINE.input, used } });
    expect(decision).toMatchObject({ reason: "internal_error", stage: "gate", callId: "call-1", planId: PLAN_ID });
    expect(JSON.stringify(decision)).not.toContain("secret");
  });

  test("every reason that is not a rule's is one of the list", () => {
    for (const { expected } of FAILURES) expect(BLOCK_REASONS).toContain((expected as { reason: string }).reason);
  });
});

describe("expiry", () => {
  test.each([
    [-1, "allow"],
    [0, "allow"],
    [LEEWAY_SECONDS - 1, "allow"],
    [LEEWAY_SECONDS - 0.001, "allow"],
    [LEEWAY_SECONDS, "block:token_expired"],
    [LEEWAY_SECONDS + 1, "block:token_expired"],
    [1e9, "block:token_expired"],
  ])("%d seconds after its expiry a token gives %s", async (late, expected) => {
    expect(summarize(await decide({ exp: NOW }, { now: NOW + late }))).toBe(expected);
  });

  test("the leeway is 30 seconds", () => {
    expect(LEEWAY_SECONDS).toBe(30);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined, null, "1", {}, 1n])(
    "%s is no time",
    async (now) => {
      const token = await aToken();
      expect(check({ token, call: aCall(), used: [0], now: now as number })).toMatchObject({
        reason: "internal_error",
      });
    },
  );
});

describe("the choice of the step", () => {
  const small: Partial<PlanStep> = { args: { amount: { lte: 10 } } };
  test.each<[string, Partial<PlanStep>[], number[], string, number | undefined]>([
    ["the first that matches", [{}, {}], [0, 0], "allow", 0],
    ["not one that does not match", [small, {}], [0, 0], "allow", 1],
    ["not one for another tool", [{ tool: "read_file" }, {}], [0, 0], "allow", 1],
    ["not one that is used up", [{ maxCalls: 2 }, { maxCalls: 1 }], [2, 0], "allow", 1],
    ["one with a call left", [{ maxCalls: 2 }, {}], [1, 0], "allow", 0],
    ["one without a limit, however often it was used", [{}], [Number.MAX_SAFE_INTEGER], "allow", 0],
    ["call_limit if all that match are used up", [{ maxCalls: 1 }, { maxCalls: 1 }], [1, 1], "block:call_limit", 0],
    ["call_limit if one that matches is used up", [small, { maxCalls: 1 }], [0, 1], "block:call_limit", 1],
    ["call_limit if more was used than there is", [{ maxCalls: 1 }], [7], "block:call_limit", 0],
    ["not_in_plan if those that match are none", [small, small], [0, 0], "block:not_in_plan", undefined],
    [
      "not_in_plan even if those that do not match are used up",
      [{ ...small, maxCalls: 1 }],
      [1],
      "block:not_in_plan",
      undefined,
    ],
    ["not_in_plan in a plan for other tools", [{ tool: "read_file" }], [0], "block:not_in_plan", undefined],
  ])("%s", async (_name, steps, used, expected, step) => {
    const decision = await decide({ plan: aPlan(...steps) }, { used });
    expect(summarize(decision)).toBe(expected);
    expect(decision.step).toBe(step);
  });

  test("a plan without steps allows nothing", async () => {
    expect(summarize(await decide({ plan: { goal: "Nothing", steps: [] } }))).toBe("block:not_in_plan");
  });

  test.each<[string, Record<string, PolicyCondition>, Json, boolean]>([
    [
      "every listed argument has to hold",
      { to: { eq: "landlord" }, amount: { lte: 20 } },
      { to: "landlord", amount: 20 },
      true,
    ],
    [
      "one that fails is enough",
      { to: { eq: "landlord" }, amount: { lte: 10 } },
      { to: "landlord", amount: 20 },
      false,
    ],
    ["one that is missing fails", { memo: { glob: "*" } }, { to: "landlord" }, false],
    ["arguments that are not listed are free", { to: { eq: "landlord" } }, { to: "landlord", bcc: "eve" }, true],
    ["no listed arguments: anything goes", {}, { a: [{ b: null }] }, true],
    ["all operators of a condition have to hold", { amount: { gte: 1, lte: 10 } }, { amount: 20 }, false],
    ["an inherited name is not an argument", { toString: { glob: "*" } }, {}, false],
    ["constructor is an ordinary name", { constructor: { eq: 1 } }, { constructor: 1 }, true],
    ["so is __proto__", own("__proto__", { eq: 1 }), own("__proto__", 1), true],
    ["which the prototype does not stand for", own("__proto__", { eq: {} }), {}, false],
  ])("%s", async (_name, args, given, matches) => {
    const decision = await decide({ plan: aPlan({ args }) }, { call: aCall({ args: given }) });
    expect(summarize(decision)).toBe(matches ? "allow" : "block:not_in_plan");
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"])(
    "%s is an ordinary tool: planned it is allowed, else not",
    async (tool) => {
      expect(summarize(await decide({}, { call: aCall({ tool }) }))).toBe("block:not_in_plan");
      const planned = await decide({ plan: aPlan({ tool }), policy: aPolicy() }, { call: aCall({ tool }) });
      expect(summarize(planned)).toBe("allow");
    },
  );
});

describe("which argument a refusal names", () => {
  const memo = { memo: { eq: "rent" } };
  const amount = { amount: { lte: 10 } };
  const to = { to: { eq: "eve" } };
  const long = "x".repeat(101);
  test.each<[string, Record<string, PolicyCondition>[], string]>([
    ["one with another value", [amount], 'not with this value of "amount"'],
    ["one that the call does not have", [memo], 'not without "memo"'],
    ["the first of two that it does not have", [memo, { note: { eq: 1 } }], 'not without "memo"'],
    ["the first of two with other values", [to, amount], 'not with this value of "to"'],
    ["rather one that it has, as a later step wants", [memo, amount], 'not with this value of "amount"'],
    ["still one that it has, where a later step lacks one", [amount, memo], 'not with this value of "amount"'],
    ["the first that it has", [memo, amount, to], 'not with this value of "amount"'],
    ["not more than 100 characters of it", [{ [long]: { eq: 1 } }], `not without "${long.slice(1)}"`],
  ])("%s", async (_name, steps, expected) => {
    const decision = await decide({ plan: aPlan(...steps.map((args) => ({ args }))) });
    expect(decision).toMatchObject({ reason: "not_in_plan", message: expect.stringContaining(expected) });
  });
});

test("no verdict has a field that is undefined: it is strict JSON, and what is signed and hashed", async () => {
  const budget = { session: { calls: 9 } };
  const evidence = { ledger: aLedger() };
  const name = { callId: "call-1", tool: "send_money", planId: PLAN_ID, step: 0 };
  expect(await decide({ policy: aPolicy(HOLD) })).toStrictEqual({
    ...{ verdict: "hold", ...name, rule: "hold-it" },
    ...{ approvers: { roles: ["approver"] }, timeoutSeconds: 300 },
  });
  const allow = { verdict: "allow", ...name, rule: "allow-in-plan" };
  expect(await decide({}, { evidence })).toStrictEqual({ ...allow, budgetRemaining: null });
  const left = { budgetRemaining: { session: { calls: 8 } }, payoutMicros: 0 };
  expect(await decide({ budget }, { evidence })).toStrictEqual({ ...allow, ...left });
  expect(
    await decide({ policy: aPolicy(HOLD), budget }, { evidence: { ...evidence, approval: anApproval() } }),
  ).toStrictEqual({ ...allow, rule: "hold-it", approvedBy: "bob@acme.dev", ...left });
});

function own<T>(name: string, value: T): Record<string, T> {
  return Object.fromEntries([[name, value]]);
}

describe("fingerprints", () => {
  test.each([
    ["the one that was signed", { send_money: FINGERPRINT }, FINGERPRINT, "allow"],
    ["another", { send_money: FINGERPRINT }, OTHER_FINGERPRINT, "block:tool_changed"],
    ["none", { send_money: FINGERPRINT }, undefined, "block:tool_changed"],
    ["an empty one", { send_money: FINGERPRINT }, "", "block:tool_changed"],
    ["one that the token holds for another tool", { read_file: FINGERPRINT }, OTHER_FINGERPRINT, "allow"],
    ["one that a token without any does not ask for", undefined, FINGERPRINT, "allow"],
    ["none, and a token without any", undefined, undefined, "allow"],
  ])("%s", async (_name, tools, fingerprint, expected) => {
    const call = aCall(fingerprint === undefined ? {} : { fingerprint });
    expect(summarize(await decide(tools ? { tools } : {}, { call }))).toBe(expected);
  });

  test.each(["constructor", "__proto__"])("a tool named %s has none from the prototype", async (tool) => {
    const over = { plan: aPlan({ tool }), tools: { send_money: FINGERPRINT } };
    expect(summarize(await decide(over, { call: aCall({ tool }) }))).toBe("allow");
  });
});

describe("policy", () => {
  const block = aRule({ id: "first", decision: "block", reason: "Not today" });

  test("the first rule that matches decides", async () => {
    const other = aRule({ id: "other", match: { tool: "read_file" }, decision: "block" });
    expect(summarize(await decide({ policy: aPolicy(other, block, aRule()) }))).toBe("block:first");
    expect(summarize(await decide({ policy: aPolicy(other, aRule(), block) }))).toBe("allow");
  });

  test("a rule that blocks is the reason, with its own words", async () => {
    const decision = await decide({ policy: aPolicy(block) });
    expect(decision).toMatchObject({ verdict: "block", stage: "policy", reason: "first", rule: "first", step: 0 });
    expect(decision).toHaveProperty(
      "message",
      "Blocked by Intentlock (first): Not today\nA rule of the policy forbids this action.",
    );
  });

  test("a rule that holds names its approvers, and five minutes unless told", async () => {
    const hold = { verdict: "hold", step: 0, rule: "hold-it", approvers: { roles: ["approver"] }, timeoutSeconds: 300 };
    expect(await decide({ policy: aPolicy(HOLD) })).toMatchObject(hold);
    const told = aPolicy({ ...HOLD, timeoutSeconds: 7, reason: "Is that so?" });
    expect(await decide({ policy: told })).toMatchObject({ ...hold, timeoutSeconds: 7, ruleReason: "Is that so?" });
  });

  const intern = { email: "ida@acme.dev", roles: ["member"], groups: ["intern", "sales"] };
  test.each<[string, Match, boolean]>([
    ["tool: its name", { tool: "send_money" }, true],
    ["tool: a glob", { tool: "send_*" }, true],
    ["tool: another glob", { tool: "read_*" }, false],
    ["tool: a glob must match all of it", { tool: "send" }, false],
    ["tool: one of a list", { tool: ["read_*", "send_money"] }, true],
    ["tool: none of a list", { tool: ["read_*", "list_*"] }, false],
    ["args: all hold", { args: { to: { eq: "landlord" }, amount: { gte: 20 } } }, true],
    ["args: one fails", { args: { to: { eq: "landlord" }, amount: { gte: 21 } } }, false],
    ["user: e-mail glob", { user: { email: "*@acme.dev" } }, true],
    ["user: in any case", { user: { email: "IDA@Acme.DEV" } }, true],
    ["user: another e-mail", { user: { email: "*@evil.example" } }, false],
    ["user: role", { user: { role: "member" } }, true],
    ["user: another role", { user: { role: "admin" } }, false],
    ["user: group", { user: { group: "intern" } }, true],
    ["user: another group", { user: { group: "int" } }, false],
    ["user: all of it", { user: { email: "ida@*", role: "member", group: "sales" } }, true],
    ["user: all but one", { user: { email: "ida@*", role: "member", group: "board" } }, false],
    ["inPlan: true", { inPlan: true }, true],
    ["inPlan: false never matches what is planned", { inPlan: false }, false],
    ["everything at once", { tool: "*", args: { to: { glob: "*" } }, user: { role: "member" }, inPlan: true }, true],
    ["everything but the tool", { tool: "x", args: { to: { glob: "*" } }, user: { role: "member" } }, false],
  ])("match by %s", async (_name, match, matches) => {
    const decision = await decide({ user: intern, policy: aPolicy(aRule({ match })) });
    expect(summarize(decision)).toBe(matches ? "allow" : "block:no_matching_rule");
  });

  test.each<[string, Partial<PolicyRule>, string]>([
    ["takes the call from the rule", { except: { tool: "send_money" } }, "allow"],
    ["of another tool does not", { except: { tool: "read_file" } }, "block:no-sending"],
    ["takes it by its arguments", { except: { args: { amount: { lte: 20 } } } }, "allow"],
    ["with other arguments does not", { except: { args: { amount: { lte: 19 } } } }, "block:no-sending"],
    ["needs all of its fields", { except: { tool: "send_money", user: { role: "admin" } } }, "block:no-sending"],
    ["for another person does not", { except: { user: { email: "bob@*" } } }, "block:no-sending"],
    ["inPlan: true takes every call", { except: { inPlan: true } }, "allow"],
    ["inPlan: false takes none", { except: { inPlan: false } }, "block:no-sending"],
  ])("an exception %s", async (_name, over, expected) => {
    const rule = aRule({ id: "no-sending", match: { tool: "send_*" }, decision: "block", ...over });
    expect(summarize(await decide({ policy: aPolicy(rule, aRule()) }))).toBe(expected);
  });

  test("what a negation matches includes what is missing and what is of another type", async () => {
    const scope = aRule({ id: "scope", match: { args: { repo: { notGlob: "acme/app" } } }, decision: "block" });
    const policy = aPolicy(scope, aRule());
    for (const args of [{}, { repo: ["acme/app"] }, { repo: null }, { repo: "acme/app/" }]) {
      expect(summarize(await decide({ policy }, { call: aCall({ args }) }))).toBe("block:scope");
    }
    expect(summarize(await decide({ policy }, { call: aCall({ args: { repo: "acme/app" } }) }))).toBe("allow");
  });
});

describe("approvals", () => {
  const call = aCall({ fingerprint: FINGERPRINT });
  const over = { tools: { send_money: FINGERPRINT }, policy: aPolicy(HOLD) };

  test("the approval of exactly this call allows it, and says by whom", async () => {
    const decision = await decide(over, { call, evidence: { approval: anApproval(call) } });
    expect(decision).toMatchObject({ verdict: "allow", rule: "hold-it", approvedBy: "bob@acme.dev", step: 0 });
  });

  test("the order of keys does not matter", async () => {
    const turned = { ...call, args: { amount: 20, to: "landlord" } };
    expect(summarize(await decide(over, { call, evidence: { approval: anApproval(turned) } }))).toBe("allow");
  });

  test.each<[string, Parameters<typeof anApproval>[1]]>([
    ["rule", { rule: "hold-that" }],
    ["planId", { planId: "plan-2" }],
    ["digest", { digest: anApproval({ ...call, args: { to: "landlord", amount: 21 } }).digest }],
    ["digest: of another tool", { digest: anApproval({ ...call, tool: "read_file" }).digest }],
    ["digest: empty", { digest: "" }],
    ["fingerprint", { fingerprint: OTHER_FINGERPRINT }],
    ["fingerprint: missing", { fingerprint: undefined as never }],
    ["exp: now", { exp: NOW }],
    ["exp: past", { exp: NOW - 1 }],
    ["exp: not a time", { exp: Number.NaN }],
    ["exp: missing", { exp: undefined as never }],
    ["approvedBy: missing", { approvedBy: undefined as never }],
  ])("one with another %s does not", async (_name, change) => {
    const evidence = { approval: anApproval(call, change) };
    expect(summarize(await decide(over, { call, evidence }))).toBe("hold:hold-it");
  });

  test.each([
    ["arguments", { args: { to: "eve", amount: 20 } }],
    ["more arguments", { args: { to: "landlord", amount: 20, memo: "" } }],
    ["type of an argument", { args: { to: "landlord", amount: "20" } }],
  ])("it does not for a call with other %s", async (_name, change) => {
    const evidence = { approval: anApproval(call) };
    expect(summarize(await decide(over, { call: { ...call, ...change }, evidence }))).toBe("hold:hold-it");
  });

  test("it never helps against a rule that blocks", async () => {
    const policy = aPolicy(aRule({ id: "hold-it", decision: "block" }), HOLD_OTHER);
    expect(summarize(await decide({ ...over, policy }, { call, evidence: { approval: anApproval(call) } }))).toBe(
      "block:hold-it",
    );
  });

  const HOLD_OTHER = { ...HOLD, id: "hold-other" };
  test("it does not stand for another rule that holds the call now", async () => {
    const evidence = { approval: anApproval(call) };
    expect(summarize(await decide({ ...over, policy: aPolicy(HOLD_OTHER, HOLD) }, { call, evidence }))).toBe(
      "hold:hold-other",
    );
  });

  test.each(FAILURES.filter(({ name }) => name !== "no rule matches").map((failure) => ({ ...failure })))(
    "it does not help when $name",
    async ({ fail, expected }) => {
      const held = { ...FINE, over: { ...FINE.over, policy: aPolicy(HOLD) } };
      const approved = {
        ...held,
        input: { ...held.input, evidence: { approval: anApproval(call), ledger: aLedger() } },
      };
      expect(summarize(await run(approved))).toBe("allow");
      expect(await run(fail(approved))).toMatchObject(expected);
    },
  );

  test("a call that nothing holds is not said to be approved", async () => {
    expect(await decide({}, { call, evidence: { approval: anApproval(call) } })).not.toHaveProperty("approvedBy");
  });
});

describe("budget", () => {
  const budget = {
    session: { calls: 2, payoutMicros: 50_000_000 },
    payouts: [{ tool: "send_money", arg: "amount", microsPerUnit: 1_000_000 }],
  };

  test("what the call takes and leaves is in the verdict", async () => {
    expect(await decide({ budget }, { evidence: { ledger: aLedger() } })).toMatchObject({
      verdict: "allow",
      payoutMicros: 20_000_000,
      budgetRemaining: { session: { calls: 1, payoutMicros: 30_000_000 } },
    });
  });

  test("an approved call needs its budget too, and says who approved it", async () => {
    const evidence = { approval: anApproval(), ledger: aLedger() };
    const policy = aPolicy(HOLD);
    expect(await decide({ budget, policy }, { evidence })).toMatchObject({
      verdict: "allow",
      approvedBy: "bob@acme.dev",
      payoutMicros: 20_000_000,
    });
    const spent = aLedger({ session: { calls: 2, payoutMicros: 0 } });
    expect(summarize(await decide({ budget, policy }, { evidence: { ...evidence, ledger: spent } }))).toBe(
      "block:budget_exhausted",
    );
  });

  test("without a ledger nothing is known to be left", async () => {
    expect(summarize(await decide({ budget }))).toBe("block:budget_exhausted");
  });

  test("whose ledger is debited is told where one is", async () => {
    const ofPerson = { ...budget, principal: { windowSeconds: 60 } };
    const evidence = { ledger: aLedger() };
    expect(await decide({ budget: ofPerson }, { evidence })).toMatchObject({ verdict: "allow", principalId: ALICE });
    expect(await decide({ budget }, { evidence })).not.toHaveProperty("principalId");
    expect(await decide({}, { evidence })).not.toHaveProperty("principalId");
  });

  test("without a budget a ledger does not matter", async () => {
    const ledger = aLedger({ session: { calls: 1e9, payoutMicros: 1e9 } });
    expect(await decide({}, { evidence: { ledger } })).toMatchObject({ verdict: "allow", budgetRemaining: null });
  });
});

describe("what a block tells", () => {
  test("nothing of the policy, other steps or values", async () => {
    const over = {
      plan: aPlan({ args: { to: { in: ["landlord", "SECRET-PAYEE"] } }, maxCalls: 1 }),
      policy: aPolicy(aRule({ match: { tool: "SECRET-*" } })),
    };
    const offPlan = await decide(over, { call: aCall({ args: { to: "SECRET-VALUE" } }) });
    const noRule = await decide(over);
    expect([summarize(offPlan), summarize(noRule)]).toEqual(["block:not_in_plan", "block:no_matching_rule"]);
    expect(JSON.stringify([offPlan, noRule])).not.toMatch(/SECRET|alice/);
    expect(offPlan).toHaveProperty("message", expect.stringContaining('"to"'));
  });

  test("the call by its own id and name", async () => {
    const decision = await decide({}, { call: aCall({ callId: "toolu_7", tool: "x" }) });
    expect(decision).toMatchObject({ callId: "toolu_7", tool: "x", planId: PLAN_ID });
  });
});

test("a decision is pure: the input does not change and the answer is the same", async () => {
  const token = await aToken({ budget: { session: { calls: 3 } } });
  const input = { token, call: aCall(), used: [0], now: NOW, evidence: { ledger: aLedger() } };
  const before = structuredClone({ ...input, token: null });
  expect(check(input)).toEqual(check(input));
  expect({ ...input, token: null }).toEqual(before);
});
