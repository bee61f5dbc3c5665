import fc from "fast-check";
import type { Json, PlanStep, PolicyCondition, PolicyRule, User } from "../src/core/index.ts";

/** Any JSON value, with keys such as `__proto__` and text of all of Unicode. */
export const anyJson: fc.Arbitrary<Json> = fc
  .jsonValue({ stringUnit: "binary", maxDepth: 4 })
  .map((value) => value as Json);

/** What a hostile caller may hand over: JSON and everything that is not, with names that objects inherit. */
export const anything: fc.Arbitrary<unknown> = fc.anything({
  key: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("__proto__", "constructor", "toString", "goal", "steps"),
  ),
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});

/** Few values, so that conditions and arguments meet. */
const aValue = fc.constantFrom<Json>("a", "b", "a/b", "", 0, 1, 2, null, true, [], ["a"], { k: 1 }, { j: 2, k: 1 });
const aPattern = fc.constantFrom("a", "*", "a*", "?", "a/*", "**", "{a,b}", "[ab]");
const aName = fc.constantFrom("x", "y", "__proto__", "constructor");

/** An object with some of these fields, at least one. */
function someOf<T>(fields: { [Name in keyof T]: fc.Arbitrary<T[Name]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(fields, { requiredKeys: [] }).filter((some) => Object.keys(some).length > 0) as fc.Arbitrary<
    Partial<T>
  >;
}

const positive = {
  eq: aValue,
  in: fc.array(aValue, { maxLength: 3 }),
  glob: aPattern,
  regex: fc.constantFrom("a", "a|b", ".*", "[ab]+"),
  lte: fc.integer({ min: -1, max: 2 }),
  gte: fc.integer({ min: -1, max: 2 }),
};

/** A condition of a policy, of any operators. */
export const aCondition: fc.Arbitrary<PolicyCondition> = someOf({
  ...positive,
  notIn: fc.array(aValue, { maxLength: 3 }),
  notGlob: aPattern,
}) as fc.Arbitrary<PolicyCondition>;

/** Arguments of a call. */
export const someArgs: fc.Arbitrary<Record<string, Json>> = fc.dictionary(aName, aValue, { maxKeys: 3 });

/** A person whom the policies of {@link policyText} may mean. */
export const aUser: fc.Arbitrary<User> = fc.record({
  email: fc.constantFrom("alice@acme.dev", "Bob@Acme.Dev", "eve@evil.com"),
  roles: fc.subarray(["admin", "approver", "member"]),
  groups: fc.subarray(["intern", "finance"]),
});

/** The name of a tool that those policies may mean. */
export const aToolName: fc.Arbitrary<string> = fc.constantFrom("read", "write", "readme", "constructor", "__proto__");

const toolGlob = fc.constantFrom("read", "write", "read*", "*", "{read,write}", "constructor", "__proto__");
const aMatch = someOf({
  tool: fc.oneof(toolGlob, fc.array(toolGlob, { minLength: 1, maxLength: 3 })),
  args: fc.dictionary(aName, aCondition, { minKeys: 1, maxKeys: 2 }),
  user: someOf({
    email: fc.constantFrom("*@acme.dev", "*@ACME.dev", "bob@acme.dev", "*"),
    role: fc.constantFrom("admin" as const, "approver" as const, "member" as const),
    group: fc.constantFrom("intern", "finance"),
  }),
  inPlan: fc.boolean(),
});

const aRule = fc
  .record(
    {
      match: aMatch,
      except: aMatch,
      decision: fc.constantFrom("allow", "block", "hold"),
      reason: fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
    },
    { requiredKeys: ["match", "decision"] },
  )
  .chain((rule) => {
    if (rule.decision !== "hold") return fc.constant(rule);
    const approvers = fc.constantFrom({ roles: ["admin"] }, { emails: ["bob@acme.dev"] }, { self: true });
    const timeoutSeconds = fc.integer({ min: 1, max: 86_400 });
    return fc.record({ approvers, timeoutSeconds }).map((hold) => ({ ...rule, ...hold }));
  });

/** What a policy is before it is parsed: a valid one. */
export const policyDocument: fc.Arbitrary<{ version: 1; default: "block"; rules: PolicyRule[] }> = fc
  .array(aRule, { maxLength: 6 })
  .map((rules) => ({
    version: 1,
    default: "block",
    rules: rules.map((rule, index) => ({ id: `rule-${index}`, ...rule }) as PolicyRule),
  }));

/** What a plan is before it is parsed: a valid one, of the tools of {@link aToolName}. */
export const planDocument: fc.Arbitrary<{ goal: string; steps: PlanStep[] }> = fc.record({
  goal: fc.string({ unit: "binary", minLength: 1, maxLength: 50 }),
  steps: fc.array(
    fc.record(
      { tool: aToolName, args: fc.dictionary(aName, someOf(positive)), maxCalls: fc.integer({ min: 1, max: 5 }) },
      { requiredKeys: ["tool"] },
    ),
    { maxLength: 5 },
  ),
}) as fc.Arbitrary<{ goal: string; steps: PlanStep[] }>;

/** A copy of the value in which one thing, somewhere, is another, or an object has a key more. */
export function mutated(value: fc.Arbitrary<unknown>, replacement: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const key = fc.constantFrom("__proto__", "constructor", "typo", "eq", "");
  return fc.tuple(value, fc.array(fc.nat(20), { maxLength: 8 }), replacement, fc.option(key)).map(replaceAt);
}

function replaceAt([value, way, replacement, key]: [unknown, readonly number[], unknown, string | null]): unknown {
  const [step, ...rest] = way;
  const isEntered = typeof value === "object" && value !== null;
  if (step === undefined || !isEntered || Object.keys(value).length === 0) {
    if (key === null || !isEntered || Array.isArray(value)) return replacement;
    return Object.fromEntries([...Object.entries(value), [key, replacement]]);
  }
  const chosen = Object.keys(value)[step % Object.keys(value).length];
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => [
    name,
    name === chosen ? replaceAt([item, rest, replacement, key]) : item,
  ]);
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
