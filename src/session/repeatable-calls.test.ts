import { describe, expect, test } from "vitest";
import type { AllowDecision } from "../core/index.ts";
import type { PendingCall } from "./call-decider.ts";
import { isTwin, RepeatableCalls } from "./repeatable-calls.ts";
import type { RunResult } from "./session.ts";

const RESULT: RunResult<unknown> = { allowed: true, result: "sent" } as unknown as RunResult<unknown>;
const CALL: PendingCall = {
  callId: "call-1",
  tool: "send_money",
  args: { to: "alice", amount: 5 },
  replayKey: "step-1",
  clashes: false,
};

function suspended(call: PendingCall) {
  return { call, decision: {} as AllowDecision, args: {} };
}

const OTHERS: [string, Partial<PendingCall>][] = [
  ["another tool", { tool: "send_all_money" }],
  ["other arguments", { args: { to: "eve", amount: 5 } }],
  ["more arguments", { args: { to: "alice", amount: 5, memo: "x" } }],
  ["arguments that are no JSON", { args: undefined }],
  ["a tool that has changed", { fingerprint: "sha256:1" }],
  ["a refusal", { refusal: { reason: "unknown_tool", detail: "no such tool" } }],
];

describe("isTwin", () => {
  test("the same call, whatever the order of its arguments", () => {
    expect(isTwin(CALL, { ...CALL, args: { amount: 5, to: "alice" } })).toBe(true);
  });

  test.each(OTHERS)("not with %s, on either side", (_name, change) => {
    const other = { ...CALL, ...change };
    expect(isTwin(CALL, other)).toBe(false);
    if (!other.refusal) expect(isTwin(other, CALL)).toBe(false);
  });

  test("two calls whose arguments are no JSON may differ in them", () => {
    const call = { ...CALL, args: undefined };
    expect(isTwin(call, call)).toBe(false);
  });
});

describe("a call that is run again", () => {
  test("finds the result that it has", () => {
    const calls = new RepeatableCalls();
    calls.keep(CALL, RESULT);
    expect(calls.find({ ...CALL })?.result).toBe(RESULT);
  });

  test.each<[string, Partial<PendingCall>]>([
    ...OTHERS,
    ["another step", { replayKey: "step-2" }],
    ["no step", { replayKey: undefined } as Partial<PendingCall>],
    ["another id", { callId: "call-2" }],
    ["an id that another call has just now", { clashes: true }],
    ["names that only look the same in a row", { replayKey: "step-", callId: "1call-1" }],
  ])("finds nothing with %s", (_name, change) => {
    const calls = new RepeatableCalls();
    calls.keep(CALL, RESULT);
    expect(calls.find({ ...CALL, ...change })).toBeUndefined();
  });

  test.each<[string, Partial<PendingCall>]>([
    ["has no step", { replayKey: undefined } as Partial<PendingCall>],
    ["clashes with another", { clashes: true }],
    ["was refused", { refusal: { reason: "unknown_tool", detail: "no such tool" } }],
  ])("is not kept if it %s", (_name, change) => {
    const calls = new RepeatableCalls();
    expect(calls.suspend(suspended({ ...CALL, ...change }))).toBe(false);
    expect(calls.takeSuspended()).toEqual([]);
  });

  test("finds nothing once it is forgotten; others keep theirs", () => {
    const calls = new RepeatableCalls();
    const other = { ...CALL, callId: "call-2" };
    calls.keep(CALL, RESULT);
    calls.keep(other, RESULT);
    calls.forget(CALL);
    const { replayKey: _, ...stepless } = other;
    calls.forget(stepless);
    expect([calls.find(CALL), calls.find(other)?.result]).toEqual([undefined, RESULT]);
  });

  test("of so many, the last 256 are kept, and what came again counts as new", () => {
    const calls = new RepeatableCalls();
    const numbered = (number: number) => ({ ...CALL, callId: `call-${number}` });
    for (let number = 0; number < 256; number++) calls.keep(numbered(number), RESULT);
    calls.keep(numbered(0), RESULT);
    expect(calls.find(numbered(1))?.result).toBe(RESULT);
    calls.keep(numbered(256), RESULT);
    expect([0, 1, 2, 256].map((number) => calls.find(numbered(number))?.result)).toEqual([
      RESULT,
      undefined,
      RESULT,
      RESULT,
    ]);
  });
});

describe("of more than are kept, those go first", () => {
  const numbered = (number: number, replayKey: string) => ({ ...CALL, callId: `call-${number}`, replayKey });
  const fill = (calls: RepeatableCalls) => {
    calls.keep(numbered(0, "step-1"), RESULT);
    for (let number = 1; number < 256; number++) calls.keep(numbered(number, "step-2"), RESULT);
  };
  const found = (calls: RepeatableCalls, wanted: readonly PendingCall[]) =>
    wanted.map((call) => calls.find(call) !== undefined);

  test("whose step has had no call for longest", () => {
    const calls = new RepeatableCalls();
    fill(calls);
    calls.keep(numbered(256, "step-1"), RESULT);
    const wanted = [numbered(0, "step-1"), numbered(1, "step-2"), numbered(2, "step-2"), numbered(256, "step-1")];
    expect(found(calls, wanted)).toEqual([true, false, true, true]);
  });

  test("and none for one that was forgotten", () => {
    const calls = new RepeatableCalls();
    fill(calls);
    calls.forget(numbered(7, "step-2"));
    calls.forget(numbered(7, "step-2"));
    calls.keep(numbered(256, "step-3"), RESULT);
    expect(found(calls, [numbered(0, "step-1"), numbered(7, "step-2")])).toEqual([true, false]);
    calls.keep(numbered(257, "step-3"), RESULT);
    expect(found(calls, [numbered(0, "step-1"), numbered(1, "step-2")])).toEqual([false, true]);
  });

  test("and none after all were taken", () => {
    const calls = new RepeatableCalls();
    fill(calls);
    calls.takeSuspended();
    fill(calls);
    expect(found(calls, [numbered(0, "step-1"), numbered(255, "step-2")])).toEqual([true, true]);
  });
});

test("suspended calls are taken once, without those that have a result", () => {
  const calls = new RepeatableCalls();
  const one = suspended(CALL);
  expect(calls.suspend(one)).toBe(true);
  calls.keep({ ...CALL, callId: "call-2" }, RESULT);
  expect(calls.find(CALL)?.suspended).toBe(one);
  expect(calls.takeSuspended()).toEqual([one]);
  expect(calls.takeSuspended()).toEqual([]);
  expect(calls.find(CALL)).toBeUndefined();
});
