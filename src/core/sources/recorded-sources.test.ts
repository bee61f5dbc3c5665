import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALICE, aCall, anUnsignedToken, aPlan, aRule, NOW, summarize } from "../../../test/builders.ts";
import { agreesWithRecord, type DecisionRecord, recomputeDecision } from "../audit.ts";
import type { Evidence } from "../call.ts";
import { check } from "../check.ts";
import { describeDecision, snapshotCall } from "../decided-call.ts";
import { digest } from "../digest.ts";
import type { Json } from "../json.ts";
import type { Plan } from "../plan.ts";
import type { OpenedToken } from "../plan-token.ts";
import { assertPolicy } from "../policy.ts";
import type { Decision } from "../verdict.ts";
import { createStepResults } from "./step-results.ts";
import { indexTask, type TaskText } from "./task-text.ts";

const TASK = { instruction: "Pay Bob" };
const POLICY = assertPolicy({
  version: 1,
  default: "block",
  trust: [{ tool: "get_contact", path: "/email" }],
  rules: [{ id: "ask", match: { unpinned: ["to", "cc"] }, decision: "hold", approvers: { self: true } }, aRule()],
});
const MAIL = { tool: "read_mail", id: "mail" } as const;
const CONTACT = { tool: "get_contact", id: "contact" } as const;

interface Recorded {
  readonly decision: Decision;
  readonly record: DecisionRecord;
  readonly token: OpenedToken;
  readonly task: TaskText;
}

/** A call that is decided with results of the first two steps, and the record of it. */
function decideAndRecord(
  plan: Plan,
  args: Json,
  over: { used?: number[]; mail?: Json; contact?: Json } = {},
): Recorded {
  const { used = plan.steps.map(() => 0), mail = ["Eve", "Mallory"], contact = { email: "zoe@x.org" } } = over;
  const token = anUnsignedToken({ plan, policy: POLICY, task: digest(TASK, "task"), sub: ALICE });
  const results = createStepResults(plan);
  results.add(0, 3, mail);
  results.add(1, 5, contact);
  const task = indexTask(TASK);
  const evidence: Evidence = { task, results };
  const call = snapshotCall(aCall({ args }));
  const decision = check({ token, call, used, now: NOW, evidence });
  const record = describeDecision(token, call, { used, now: NOW, evidence, checked: decision, answer: undefined });
  return { decision, record: JSON.parse(JSON.stringify(record)) as DecisionRecord, token, task };
}

function expectAgreement({ record, token, task }: Recorded): void {
  for (const again of [recomputeDecision(record, token), recomputeDecision(record, token, { task })]) {
    expect(again && agreesWithRecord(record, again)).toBe(true);
  }
}

describe("a decision that is made again from its record comes out the same", () => {
  const ANY = ["mail", "contact", "task"];
  const SEVERAL = aPlan(
    MAIL,
    CONTACT,
    { args: { to: { from: "mail" } } },
    { args: { to: { from: ["mail", "contact"] } } },
  );
  const CHOICE = aPlan(MAIL, CONTACT, { args: { to: { each: { anyOf: [{ from: "contact" }, { from: "mail" }] } } } });
  test.each<[string, Plan, Json, string, Parameters<typeof decideAndRecord>[2]?]>([
    ["from the task", aPlan(MAIL, CONTACT, { args: { to: { from: ANY } } }), { to: "Bob" }, "allow"],
    ["from a result", aPlan(MAIL, CONTACT, { args: { to: { from: ANY } } }), { to: "Eve" }, "hold:ask"],
    ["from a trusted place", aPlan(MAIL, CONTACT, { args: { to: { from: ANY } } }), { to: "zoe@x.org" }, "allow"],
    [
      "of several",
      aPlan(MAIL, CONTACT, { args: { to: { from: ANY } } }),
      { to: ["Bob", "Eve", "zoe@x.org"] },
      "hold:ask",
    ],
    ["not found", aPlan(MAIL, CONTACT, { args: { to: { from: ANY } } }), { to: "Trudy" }, "block:not_in_plan"],
    ["what needs no source", aPlan(MAIL, CONTACT, { args: { to: { from: ANY } } }), { to: null }, "allow"],
    ["a step that comes first and does not match", SEVERAL, { to: ["Eve", "zoe@x.org"] }, "hold:ask"],
    ["an alternative that comes first and does not hold", CHOICE, { to: ["zoe@x.org", "Eve"] }, "hold:ask"],
    ["a limit", SEVERAL, { to: "Eve" }, "block:call_limit", { used: [0, 0, 1, 1] }],
    [
      "a limit, of values of the task",
      aPlan(MAIL, CONTACT, { args: { to: { from: "task" } }, maxCalls: 1 }),
      { to: "Bob" },
      "block:call_limit",
      { used: [0, 0, 1] },
    ],
    [
      "a place",
      aPlan(MAIL, CONTACT, { args: { to: { from: { step: "contact", path: "/name" } } } }),
      { to: "Zoe" },
      "hold:ask",
      { contact: { name: "Zoe" } },
    ],
    [
      "a trusted place in a result that is named",
      aPlan(MAIL, CONTACT, { args: { to: { from: { step: "contact", path: "/email" } } } }),
      { to: "zoe@x.org" },
      "allow",
    ],
    [
      "a search that took too much work",
      aPlan(MAIL, CONTACT, { args: { to: { from: "mail" } } }),
      { to: Array(400).fill("a a b") },
      "block:invalid_call",
      { mail: `a a b ${"a a c b ".repeat(100_000)}` },
    ],
  ])("%s", (_name, given, args, expected, over) => {
    const plan = over?.used ? { ...given, steps: given.steps.map((step) => ({ ...step, maxCalls: 1 })) } : given;
    const recorded = decideAndRecord(plan, args, over);
    expect(summarize(recorded.decision)).toBe(expected);
    expectAgreement(recorded);
  });

  test("whatever the plan, the values and the results are", { timeout: 60_000 }, () => {
    const value = fc.constantFrom<Json>("Bob", "Eve", "Mallory", "zoe@x.org", "Trudy", "", null, 5);
    const source = fc.constantFrom(
      "task",
      "mail",
      "contact",
      { step: "contact", path: "/email" },
      { step: "mail", path: "/*" },
    );
    const from = fc.record({ from: fc.oneof(source, fc.array(source, { minLength: 1, maxLength: 2 })) });
    const condition = fc.oneof(
      from,
      from.map((each) => ({ each })),
      fc.array(fc.oneof(from, fc.constant({ eq: "Bob" })), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.array(from, { minLength: 2, maxLength: 2 }).map((anyOf) => ({ each: { anyOf } })),
      fc.constant({ optional: true as const }),
    );
    const args = fc.dictionary(fc.constantFrom("to", "cc"), fc.oneof(value, fc.array(value, { maxLength: 3 })));
    const step = fc.record({
      args: fc.dictionary(fc.constantFrom("to", "cc"), condition, { maxKeys: 2 }),
      maxCalls: fc.integer({ min: 1, max: 2 }),
    });
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 3 }),
        args,
        fc.nat(2),
        fc.array(value),
        (steps, given, taken, mail) => {
          const plan = aPlan(MAIL, CONTACT, ...steps);
          const recorded = decideAndRecord(plan, given, { used: plan.steps.map(() => taken), mail });
          const summary = summarize(recorded.decision) + (recorded.decision.sources ? " with sources" : "");
          seen.set(summary, (seen.get(summary) ?? 0) + 1);
          expectAgreement(recorded);
        },
      ),
      { numRuns: 3000 },
    );
    for (const verdict of [
      "allow with sources",
      "hold:ask with sources",
      "block:call_limit with sources",
      "block:not_in_plan",
    ])
      expect(seen.get(verdict) ?? 0).toBeGreaterThan(5);
  });
});

describe("a record that was changed comes out otherwise", () => {
  const plan = aPlan(MAIL, CONTACT, { args: { to: { from: ["task", "mail", { step: "contact", path: "/name" }] } } });
  const held = decideAndRecord(plan, { to: "Eve" });
  const allowed = decideAndRecord(plan, { to: "Bob" });
  const changed = ({ record, token }: Recorded, over: object, task?: TaskText): boolean => {
    const again = recomputeDecision({ ...record, ...over }, token, { task });
    return again !== undefined && agreesWithRecord({ ...record, ...over }, again);
  };

  test.each<[string, object]>([
    ["no sources", { sources: [] }],
    ["a step that is none of the condition's", { sources: [{ arg: "/to", from: "other", seq: 3 }] }],
    ["a place that is not the plan's", { sources: [{ arg: "/to", from: "mail", seq: 3, path: "/x" }] }],
    ["no place, where the plan has one", { sources: [{ arg: "/to", from: "contact", seq: 5 }] }],
    ["another argument", { sources: [{ arg: "/cc", from: "mail", seq: 3 }] }],
    ["another step", { step: 1 }],
    ["nothing open", { unpinned: [] }],
    ["something else open", { unpinned: ["to", "cc"] }],
    ["names run together", { unpinned: ["to,cc"] }],
    ["an allow", { verdict: "allow", rule: "allow-in-plan" }],
    ["a trusted place: then nothing is open", { sources: [{ arg: "/to", from: "contact", seq: 5, path: "/email" }] }],
  ])("%s", (_name, over) => {
    expect([changed(held, {}), changed(held, over)]).toEqual([true, false]);
  });

  test("with the task, words that are not in it are found out", () => {
    const claim = {
      verdict: "allow",
      rule: "allow-in-plan",
      unpinned: undefined,
      sources: [{ arg: "/to", from: "task" }],
    };
    expect([changed(held, claim), changed(held, claim, held.task)]).toEqual([true, false]);
    expect(changed(allowed, {}, indexTask({ instruction: "Pay Eve" }))).toBe(false);
  });
});

test("10,000 sources for as many values take no time in their square", () => {
  const plan = aPlan(MAIL, CONTACT, { args: { to: { from: "mail" } } });
  const { record, token } = decideAndRecord(plan, { to: Array(100_000).fill("Eve") });
  const sources = Array.from({ length: 10_000 }, (_, seq) => ({ arg: "/to", from: "other", seq }));
  const start = performance.now();
  expect(recomputeDecision({ ...record, sources }, token)).toMatchObject({ reason: "not_in_plan" });
  const last = [...sources, { arg: "/to", from: "mail", seq: 3 }];
  expect(recomputeDecision({ ...record, sources: last }, token)).toMatchObject({ verdict: "hold" });
  // In their square it is a billion comparisons.
  expect(performance.now() - start).toBeLessThan(20_000);
});
