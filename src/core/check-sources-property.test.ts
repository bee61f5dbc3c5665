import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aCall, anUnsignedToken, aPlan, aRule, claims, NOW, summarize } from "../../test/builders.ts";
import { call as anyCall, plan as anyPlan, policy as anyPolicy, user } from "../../test/decision-arbitraries.ts";
import { check } from "./check.ts";
import { compileCondition } from "./compile-condition.ts";
import type { PlanCondition } from "./condition.ts";
import { digest } from "./digest.ts";
import type { Json, JsonObject } from "./json.ts";
import { parsePointer, someAt } from "./json-pointer.ts";
import { newMatching } from "./matching.ts";
import type { Plan, PlanStep } from "./plan.ts";
import { assertPolicy, type Policy } from "./policy.ts";
import { createStepResults } from "./sources/step-results.ts";
import { indexTask } from "./sources/task-text.ts";
import type { Decision } from "./verdict.ts";

const SLOW = { timeout: 60_000 };
const TASK = { instruction: "Pay a or b 20" };
const MAIL = { tool: "read_mail", id: "mail" } as const;

const value = fc.constantFrom<Json[]>(
  "a",
  "b",
  "eve",
  "",
  1,
  20,
  null,
  [],
  ["a"],
  ["a", "eve"],
  [1, 20],
  { k: "a" },
  { k: "eve" },
);
const source = fc.constantFrom("task", "mail", { step: "mail", path: "/k" }, { step: "mail", path: "/*" });
const { condition } = fc.letrec<{ condition: PlanCondition }>((tie) => ({
  condition: fc
    .record(
      {
        eq: value,
        in: fc.array(value, { maxLength: 3 }),
        glob: fc.constantFrom("a", "*", "e*"),
        lte: fc.constantFrom(1, 20),
        each: tie("condition"),
        maxItems: fc.nat(2),
        anyOf: fc.array(tie("condition"), { minLength: 1, maxLength: 2 }),
        from: fc.oneof(source, fc.array(source, { minLength: 1, maxLength: 2 })),
        optional: fc.constant(true as const),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    // Few operators at once, or nothing ever passes.
    .map((all) => Object.fromEntries(Object.entries(all).slice(0, 2)) as PlanCondition)
    .filter((some) => Object.keys(some).length > 0),
}));

const name = fc.constantFrom("to", "cc", "__proto__");
const path = fc.constantFrom("/to/k", "/to/*", "/cc/0", "/cc");
const optionalFields = {
  args: fc.dictionary(name, condition, { maxKeys: 1 }),
  at: fc.dictionary(path, condition, { maxKeys: 1 }),
  otherArgs: fc.constant("block" as const),
  maxCalls: fc.integer({ min: 1, max: 3 }),
};
const step: fc.Arbitrary<Partial<PlanStep>> = fc.record(optionalFields, { requiredKeys: [] });
const plan: fc.Arbitrary<Plan> = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => aPlan(MAIL, ...steps));
const args: fc.Arbitrary<JsonObject> = fc.dictionary(name, value, { maxKeys: 3 });
const results = fc.array(fc.oneof(value, fc.string({ maxLength: 5 })), { maxLength: 3 });

interface Asked {
  readonly plan: Plan;
  readonly policy?: Policy;
  readonly args: JsonObject;
  readonly results: readonly unknown[];
  readonly used?: readonly number[];
}

function ask({ plan, policy = claims().policy, args, results, used = plan.steps.map(() => 0) }: Asked): Decision {
  const token = anUnsignedToken({ plan, policy, task: digest(TASK, "task") });
  const kept = createStepResults(plan);
  for (const [seq, result] of results.entries()) kept.add(0, seq, result);
  return check({ token, call: aCall({ args }), used, now: NOW, evidence: { task: indexTask(TASK), results: kept } });
}

/** A step that asks for more: undefined where this says nothing about it. */
type Tighten = (step: PlanStep) => PlanStep | undefined;

function lists({ args = {}, at = {} }: PlanStep, argument: string): boolean {
  return Object.hasOwn(args, argument) || Object.keys(at).some((path) => parsePointer(path)?.[0] === argument);
}

function withCondition(field: "args" | "at", key: string, more: PlanCondition): Tighten {
  return (given) => {
    const argument = field === "args" ? key : (parsePointer(key)?.[0] ?? "");
    if (given.otherArgs && !lists(given, argument)) return undefined;
    const known = given[field] ?? {};
    // What it has not asked yet: of another operator there can be only one.
    const old = Object.hasOwn(known, key) ? known[key] : undefined;
    const { optional, ...asked } = more;
    const added = old ? asked : { ...asked, ...(optional && { optional }) };
    const joined = { ...added, ...old };
    if (Object.keys(joined).length === 0) return undefined;
    return { ...given, [field]: Object.fromEntries([...Object.entries(known), [key, joined]]) };
  };
}

const tighten: fc.Arbitrary<Tighten> = fc.oneof(
  fc.constant<Tighten>((given) => ({ ...given, otherArgs: "block" })),
  fc.constant<Tighten>((given) => ({ ...given, maxCalls: Math.max(1, (given.maxCalls ?? 3) - 1) })),
  fc.tuple(name, condition).map(([key, more]) => withCondition("args", key, more)),
  fc.tuple(path, condition).map(([key, more]) => withCondition("at", key, more)),
);

const UNPINNED = assertPolicy({
  version: 1,
  default: "block",
  trust: [{ tool: "read_mail", path: "/k" }],
  rules: [{ id: "ask", match: { unpinned: ["to"] }, decision: "block" }, aRule()],
});

describe("a condition more, otherArgs or a smaller maxCalls never turns a block into an allow", SLOW, () => {
  test("under policies without unpinned, for which a condition more may be what fixes an argument", () => {
    let both = 0;
    let fewer = 0;
    const given = fc.record({
      plan,
      policy: fc.oneof({ weight: 3, arbitrary: fc.constant(claims().policy) }, anyPolicy),
      args,
      results,
      used: fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }),
    });
    fc.assert(
      fc.property(given, fc.nat(2), tighten, (asked, which, change) => {
        const index = 1 + (which % (asked.plan.steps.length - 1));
        const changed = change(asked.plan.steps[index] as PlanStep);
        fc.pre(changed !== undefined);
        const steps = asked.plan.steps.map((old, at) => (at === index ? (changed as PlanStep) : old));
        const tight = ask({ ...asked, plan: aPlan(...steps) });
        const loose = ask(asked);
        if (tight.verdict === "allow") {
          both++;
          expect(loose.verdict).toBe("allow");
        } else if (loose.verdict === "allow") {
          fewer++;
        }
        if (loose.verdict === "block") expect(tight.verdict).toBe("block");
      }),
      { numRuns: 3000 },
    );
    // Or the property is about nothing.
    expect([both > 20, fewer > 20]).toEqual([true, true]);
  });

  test("with unpinned it may: that is what the rule is for", () => {
    const verdict = (to?: PlanCondition): string =>
      summarize(ask({ plan: aPlan(to ? { args: { to } } : {}), policy: UNPINNED, args: { to: "a" }, results: [] }));
    expect([verdict(), verdict({ glob: "*" }), verdict({ eq: "a" }), verdict({ from: "task" })]).toEqual([
      "block:ask",
      "block:ask",
      "allow",
      "allow",
    ]);
  });
});

test("optional never turns a present bad value into a pass, nor a good one into a failure", SLOW, () => {
  fc.assert(
    fc.property(condition, value, (given, actual) => {
      const { optional: _, ...strict } = given;
      fc.pre(Object.keys(strict).length > 0);
      const holds = (condition: PlanCondition): boolean => compileCondition(condition)(actual, newMatching());
      expect(holds({ ...strict, optional: true })).toBe(holds(strict));
      expect(compileCondition({ ...strict, optional: true })(undefined, newMatching())).toBe(true);
    }),
  );
});

test("from never finds what only the call itself says", SLOW, () => {
  fc.assert(
    fc.property(plan, args, fc.constantFrom("to", "cc"), (given, rest, argument) => {
      const steps = given.steps.map((old) => ({
        ...old,
        args: { ...old.args, [argument]: { from: ["mail", "task"] } },
      }));
      const call = { ...rest, [argument]: "only-here" };
      expect(ask({ plan: aPlan(MAIL, ...steps.slice(1)), args: call, results: ["a", "b"] }).verdict).toBe("block");
    }),
  );
});

test("the order of keys and of results does not change a verdict", SLOW, () => {
  const turned = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => turned(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, item]) => [key, turned(item)] as const)
        .reverse(),
    );
  };
  const steps = (given: Plan): Plan => aPlan(...(turned(given.steps as unknown as Json) as unknown as PlanStep[]));
  const seen = new Set<string>();
  fc.assert(
    fc.property(plan, args, results, fc.constantFrom(UNPINNED, claims().policy), (given, call, from, policy) => {
      const decision = ask({ plan: given, policy, args: call, results: from });
      const other = ask({ plan: steps(given), policy, args: turned(call) as JsonObject, results: [...from].reverse() });
      seen.add(decision.verdict);
      expect([summarize(other), other.step, other.unpinned]).toEqual([
        summarize(decision),
        decision.step,
        decision.unpinned,
      ]);
    }),
    { numRuns: 1000 },
  );
  expect(seen).toContain("allow");
});

test("a value that stands at places that are not trusted only is never fixed", SLOW, () => {
  const key = fc.constantFrom("email", "name", "items", "0", "__proto__");
  const leaf = fc.constantFrom<Json[]>("eve", "bob", 1, null);
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.dictionary(key, tie("tree"), { maxKeys: 3 }),
      fc.array(tie("tree"), { maxLength: 2 }),
    ),
  }));
  const place = fc
    .array(fc.oneof(key, fc.constant("*")), { maxLength: 3 })
    .map((parts) => parts.map((part) => `/${part}`).join(""));
  const from = fc.constantFrom<PlanCondition[]>(
    { from: "mail" },
    { from: ["task", "mail"] },
    { each: { from: "mail" } },
  );
  const seen = new Set<string>();
  fc.assert(
    fc.property(tree, fc.array(place, { maxLength: 2 }), from, fc.boolean(), (result, paths, to, asText) => {
      const policy = assertPolicy({ ...UNPINNED, trust: paths.map((path) => ({ tool: "read_*", path })) });
      const isTrusted = paths.some((path) => someAt(result, parsePointer(path) ?? [], (found) => found === "eve"));
      const args = { to: to.each ? ["eve"] : "eve" };
      const decision = ask({
        plan: aPlan(MAIL, { args: { to } }),
        policy,
        args,
        results: [asText && typeof result === "object" ? JSON.stringify(result) : result],
      });
      seen.add(summarize(decision));
      if (decision.verdict === "allow") expect(isTrusted).toBe(true);
      if (isTrusted) expect(decision.verdict).toBe("allow");
    }),
    { numRuns: 2000 },
  );
  expect([...seen].sort()).toEqual(["allow", "block:ask", "block:not_in_plan"]);
});

test("plans and policies of the first part decide the same, whatever there is to copy from", SLOW, () => {
  fc.assert(
    fc.property(anyPlan, anyPolicy, user, anyCall, results, (plan, policy, user, call, from) => {
      const token = anUnsignedToken({ plan, policy, user, task: digest(TASK, "task") });
      const input = { token, call, used: plan.steps.map(() => 0), now: NOW };
      const kept = createStepResults(aPlan(MAIL, { args: { to: { from: "mail" } } }));
      for (const result of from) kept.add(0, 0, result);
      const evidence = {
        task: indexTask(TASK),
        results: kept,
        recorded: { step: 0, sources: [{ arg: "/to", from: "task" }] },
      };
      expect(check({ ...input, evidence })).toEqual(check(input));
    }),
  );
});
