import fc from "fast-check";
import type { Call, Json, Match, Plan, PlanCondition, PlanStep, Policy, PolicyRule, User } from "../src/core/index.ts";
import { assertPolicy } from "../src/core/policy.ts";
import { aCall, aPlan } from "./builders.ts";

// Few names and values, so that plans, policies and calls are about the same things more often than not.
const tool = fc.oneof(
  { weight: 3, arbitrary: fc.constant("send_money") },
  fc.constantFrom("read_file", "constructor", "__proto__"),
);
const argName = fc.constantFrom("to", "amount", "__proto__", "constructor");
const value: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(0, 1, 20, -1, "a", "a/b", "20", true, null, [1], { k: 1 });
const number = fc.constantFrom(-1, 0, 1, 20);

const operators = {
  eq: value,
  in: fc.array(value, { maxLength: 3 }),
  glob: fc.constantFrom("a", "a/b", "*", "a/*", "**", "{a,b}", "!a"),
  regex: fc.constantFrom("a", ".*", "[ab]/?", "(a|b)+"),
  lte: number,
  gte: number,
};

export const planCondition: fc.Arbitrary<PlanCondition> = atLeastOne(fc.record(operators, { requiredKeys: [] }));

const policyCondition = atLeastOne(
  fc.record({ ...operators, notIn: operators.in, notGlob: operators.glob }, { requiredKeys: [] }),
);

const anyCall: fc.Arbitrary<Partial<PlanStep>> = fc.constant({});
const someCalls: fc.Arbitrary<Partial<PlanStep>> = fc.record(
  { args: named(planCondition), maxCalls: fc.integer({ min: 1, max: 3 }) },
  { requiredKeys: [] },
);
const planStep: fc.Arbitrary<PlanStep> = fc
  .tuple(tool, fc.oneof(anyCall, someCalls))
  .map(([tool, rest]) => ({ tool, ...rest }));

export const plan: fc.Arbitrary<Plan> = fc
  .array(planStep, { minLength: 1, maxLength: 4 })
  .map((steps) => aPlan(...steps));

const matchUser = atLeastOne(
  fc.record(
    {
      email: fc.constantFrom("*@acme.dev", "Alice@*"),
      role: fc.constantFrom("admin", "member"),
      group: fc.constant("intern"),
    },
    { requiredKeys: [] },
  ),
);

const everyCall: fc.Arbitrary<Match> = fc.constant({ inPlan: true });
const someMatch = atLeastOne(
  fc.record(
    {
      tool: fc.oneof(fc.constantFrom("send_money", "*_*", "*", "c*"), fc.array(tool, { minLength: 1, maxLength: 2 })),
      args: named(policyCondition),
      user: matchUser,
      inPlan: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
);

const match = fc.oneof(everyCall, someMatch);

const ruleBody = fc.oneof(
  fc.record(
    { match, except: match, decision: fc.constantFrom("allow", "block") },
    { requiredKeys: ["match", "decision"] },
  ),
  fc.record({ match, decision: fc.constant("hold"), approvers: fc.constant({ self: true }) }),
);

export const policy: fc.Arbitrary<Policy> = fc.array(ruleBody, { maxLength: 5 }).map((bodies) => {
  const rules = bodies.map((body, index) => ({ ...body, id: `rule-${index}` }) as PolicyRule);
  return assertPolicy({ version: 1, default: "block", rules });
});

export const user: fc.Arbitrary<User> = fc.record({
  email: fc.constantFrom("alice@acme.dev", "eve@evil.example"),
  roles: fc.subarray(["admin", "member"]),
  groups: fc.subarray(["intern"]),
});

export const call: fc.Arbitrary<Call> = fc
  .record({
    tool: fc.oneof({ weight: 5, arbitrary: tool }, fc.string({ unit: "binary" })),
    args: fc.oneof({ weight: 5, arbitrary: named(value) }, fc.anything()),
    callId: fc.string({ unit: "binary" }),
  })
  .map((given) => aCall(given));

/** An object with some of the names, `__proto__` as an own property too. */
function named<T>(of: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  const entry = fc.tuple(argName, of);
  return fc.array(entry, { minLength: 1, maxLength: 3 }).map((entries) => Object.fromEntries(entries));
}

function atLeastOne<T extends object>(of: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return of.filter((fields) => Object.keys(fields).length > 0);
}
