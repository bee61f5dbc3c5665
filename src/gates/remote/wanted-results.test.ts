import { describe, expect, test } from "vitest";
import { type Decision, MAX_STEP_RESULTS, type Plan, parsePlan } from "../../core/index.ts";
import { toWireOutcome, WantedResults } from "./wanted-results.ts";

const PLAN: Plan = parsePlan(
  {
    goal: "Pay the invoice",
    steps: [{ id: "mail", tool: "read_mail" }, { tool: "look" }, { tool: "pay", args: { to: { from: "mail" } } }],
  },
  { tools: ["read_mail", "look", "pay"] },
);

const allowed = (step: number, seq: number): Decision => ({ verdict: "allow", step, seq }) as Decision;

function outcome(decisionSeq: number, more: object = {}) {
  return { type: "outcome", planId: "plan-1", decisionSeq, status: "ok", ...more } as const;
}

/** What of a result goes to the server, after a call of step 0 was allowed as number 1. */
function sent(result: unknown): unknown {
  const wanted = new WantedResults(PLAN);
  wanted.add(allowed(0, 1));
  return toWireOutcome(outcome(1, { result }), wanted);
}

describe("what a call gave goes to the server", () => {
  test("if its step is one that a source names, and no other", () => {
    const wanted = new WantedResults(PLAN);
    wanted.add(allowed(0, 1));
    wanted.add(allowed(1, 2));
    wanted.add(allowed(2, 3));
    expect([1, 2, 3, 4].map((seq) => toWireOutcome(outcome(seq, { result: "a" }), wanted))).toEqual([
      outcome(1, { result: "a" }),
      outcome(2),
      outcome(3),
      outcome(4),
    ]);
  });

  test.each(["failed", "aborted", "unknown"] as const)("not if it is %s", (status) => {
    const wanted = new WantedResults(PLAN);
    wanted.add(allowed(0, 1));
    expect(toWireOutcome(outcome(1, { status, result: "a" }) as never, wanted)).toEqual(outcome(1, { status }));
  });

  test.each<[string, object]>([
    ["was blocked", { verdict: "block", reason: "call_limit", step: 0, seq: 1 }],
    ["was held", { verdict: "hold", step: 0, seq: 1 }],
    ["has no step", { verdict: "allow", seq: 1 }],
    ["was only asked about", { verdict: "allow", step: 0 }],
  ])("not of a call that %s", (_name, decision) => {
    const wanted = new WantedResults(PLAN);
    wanted.add(decision as Decision);
    expect(wanted.has(outcome(1))).toBe(false);
  });

  test("until its outcome is on record: then it is there", () => {
    const wanted = new WantedResults(PLAN);
    wanted.add(allowed(0, 1));
    expect([wanted.has(outcome(1)), wanted.has(outcome(1))]).toEqual([true, true]);
    wanted.settle(outcome(1));
    expect(wanted.has(outcome(1))).toBe(false);
  });

  test("not of a plan that is not known here, and of nothing that is no outcome", () => {
    expect(toWireOutcome(outcome(1, { result: "a" }), undefined)).toEqual(outcome(1));
    const closed = { type: "closed", planId: "plan-1" } as const;
    expect(toWireOutcome(closed, new WantedResults(PLAN))).toBe(closed);
  });
});

describe("a result travels", () => {
  test.each<[string, unknown, unknown]>([
    ["a text", "a", "a"],
    ["null", null, null],
    ["a structure", { mails: [{ from: "a@b.c" }] }, { mails: [{ from: "a@b.c" }] }],
    ["what prints itself as something else", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    ["without what JSON does not have", { a: undefined, b: () => 1, c: 1 }, { c: 1 }],
  ])("as JSON: %s", (_name, result, expected) => {
    expect(sent(result)).toEqual(outcome(1, { result: expected }));
  });

  const loop: { self?: object } = {};
  loop.self = loop;
  const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) as unknown;
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a structure without end", loop],
    ["a bigint", 1n],
    [
      "what throws when it is printed",
      {
        toJSON: () => {
          throw new Error("no");
        },
      },
    ],
    ["what nests deeper than a message may", deep],
    ["a text that is not well-formed", "\ud800"],
  ])("or not at all, and its outcome does: %s", (_name, result) => {
    expect(sent(result)).toEqual(outcome(1));
  });

  test("up to what is kept of a step, and no longer", () => {
    const most = "x".repeat(MAX_STEP_RESULTS - 2);
    expect(sent(most)).toEqual(outcome(1, { result: most }));
    expect(sent(`${most}x`)).toEqual(outcome(1));
  });
});
