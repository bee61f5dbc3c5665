import { expect, test } from "vitest";
import type { SessionCall } from "./call-decider.ts";
import { readCall } from "./read-call.ts";

const NONE = new Map<string, unknown>();
const CALL = { callId: "call-1", tool: "read", args: { path: "a" } };

test("what a call does not say is not there", () => {
  expect(readCall(CALL, NONE)).toEqual({ ...CALL, clashes: false });
});

test("all that a call says is read, once, and its arguments are a frozen copy", () => {
  const { signal } = new AbortController();
  const refusal = { reason: "unknown_tool", detail: "no such tool" } as const;
  const given: SessionCall = { ...CALL, isParsed: true, fingerprint: "sha256:1", signal, replayKey: "step", refusal };
  const reads = new Map<PropertyKey, number>();
  const call = readCall(
    new Proxy(given, {
      get(target, key) {
        reads.set(key, (reads.get(key) ?? 0) + 1);
        return target[key as keyof SessionCall];
      },
    }),
    NONE,
  );
  expect(call).toEqual({ ...given, clashes: false });
  expect(call.args).not.toBe(given.args);
  expect(Object.isFrozen(call.args)).toBe(true);
  expect([...reads.values()]).toEqual(Object.keys(given).map(() => 1));
});

test("a call under the id of one in flight clashes", () => {
  expect(readCall(CALL, new Map([["call-1", 1]])).clashes).toBe(true);
  expect(readCall(CALL, new Map([["call-2", 1]])).clashes).toBe(false);
});

test("arguments that are not JSON are a problem of the call", () => {
  const call = readCall({ ...CALL, args: { amount: 1n } }, NONE);
  expect(call).toMatchObject({ callId: "call-1", args: undefined, problem: expect.stringContaining("bigint") });
});

test("a call that throws when it is read has no name, which no gate allows", () => {
  const hostile = new Proxy(CALL, {
    get() {
      throw new Error("hostile");
    },
  });
  const call = readCall(hostile, NONE);
  expect(call).toMatchObject({ callId: "", tool: "", args: undefined, problem: expect.any(String) });
});
