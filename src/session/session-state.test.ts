import { describe, expect, onTestFinished, test, vi } from "vitest";
import { PLAN_ID } from "../../test/builders.ts";
import { aSession, aSessionCall, aTool, hold, listEntries, planOf, ScriptedGate } from "../../test/sessions.ts";
import type { AdmittedCall } from "./admitted-call.ts";
import type { RunOptions, Session } from "./session.ts";

const SUSPENDING: RunOptions<unknown> = { isSuspension: () => true };

async function admitOne(session: Session, callId: string): Promise<AdmittedCall> {
  const admitted = await session.admit(aSessionCall({ callId }));
  if (admitted.isError) throw new Error(admitted.content);
  return admitted;
}

test("a session knows its tools, its plan and what becomes of held calls", async () => {
  const tools = [aTool(), aTool({ name: "read_file" })];
  const { session } = await aSession({ tools });
  expect(session.toolNames).toEqual(["send_money", "read_file"]);
  expect([session.tool("read_file"), session.tool("constructor")]).toEqual([tools[1], undefined]);
  expect(session.onHold).toBe("wait");
  const admitted = await admitOne(session, "call-9");
  expect([admitted.callId, admitted.decision.planId]).toEqual(["call-9", session.planId]);
});

describe("how long a tool ran is recorded", () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  test.each<[string, (session: Session) => Promise<unknown>]>([
    ["run", (session) => session.run(aSessionCall(), () => "sent")],
    ["run, of a tool that fails", (session) => session.run(aSessionCall(), boom)],
    ["stream", (session) => session.stream(aSessionCall(), async function* () {}).next()],
    [
      "admit",
      async (session) => {
        const admitted = await admitOne(session, "call-1");
        await admitted.claim();
        await admitted.settle("ok");
      },
    ],
  ])("%s", async (_name, run) => {
    const gate = new ScriptedGate();
    const { session } = await aSession({ gate });
    const now = vi.spyOn(performance, "now").mockReturnValue(1000);
    onTestFinished(() => now.mockRestore());
    await run(session);
    expect(gate.outcomes).toMatchObject([{ durationMs: 0 }]);
  });
});

test("what was never started has no duration, and is aborted", async () => {
  const gate = new ScriptedGate();
  const { session } = await aSession({ gate });
  await (await admitOne(session, "a")).release();
  const claimed = await admitOne(session, "b");
  await claimed.claim();
  await claimed.settle("aborted", { result: "x" });
  await session.close();
  const aborted = { type: "outcome", planId: PLAN_ID, decisionSeq: 7, status: "aborted" };
  expect(gate.outcomes).toStrictEqual([aborted, aborted, { type: "closed", planId: PLAN_ID }]);
});

describe("once a session is closed", () => {
  test("a call that nobody claimed was given back", async () => {
    const { session, audit } = await aSession();
    await admitOne(session, "call-1");
    await session.close();
    expect(listEntries(audit)).toEqual(["call-1:allow", "aborted"]);
  });

  test("another call is blocked under its own name", async () => {
    const { session } = await aSession();
    await session.close();
    const { planId } = session;
    const call = aSessionCall({ callId: "late" });
    const block = { callId: "late", tool: "send_money", planId, reason: "aborted", stage: "gate" };
    expect(await session.run(call, () => "sent")).toMatchObject({ isError: true, decision: block });
    expect(await session.peek(call)).toMatchObject(block);
  });

  test("nothing starts any more, also while what is open is still being recorded", async () => {
    const gate = new ScriptedGate();
    const { session } = await aSession({ gate });
    await admitOne(session, "first");
    const second = await admitOne(session, "second");
    const call = aSessionCall({ callId: "third", replayKey: "step" });
    await session.run(call, () => Promise.reject(new Error("wait")), SUSPENDING);
    expect(session.hasSuspended(call)).toBe(true);
    const tool = vi.fn();
    const closing = session.close();
    const [claimed, resumed] = await Promise.all([second.claim(), session.run(call, tool, SUSPENDING)]);
    await closing;
    expect([claimed, resumed.isError, resumed.decision]).toMatchObject([false, true, { reason: "aborted" }]);
    expect(tool).not.toHaveBeenCalled();
  });
});

describe("a call is made again", () => {
  test("under an id whose call was refused: it was never in flight", async () => {
    const { session } = await aSession();
    for (let times = 0; times < 2; times++) {
      expect(await session.admit(aSessionCall({ tool: "other" }))).toMatchObject({
        decision: { reason: "unknown_tool" },
      });
    }
  });

  test("after it was suspended and went on in parts: it is decided anew", async () => {
    const { session, audit } = await aSession({ plan: planOf({ tool: "send_money", maxCalls: 1 }) });
    const call = aSessionCall({ replayKey: "step" });
    await session.run(call, () => Promise.reject(new Error("wait")), SUSPENDING);
    const parts = session.stream(call, async function* () {
      yield "sent";
    });
    expect(await parts.next()).toEqual({ done: false, value: "sent" });
    expect(await parts.next()).toMatchObject({ done: true, value: { isError: false } });
    expect(session.hasSuspended(call)).toBe(false);
    const tool = vi.fn();
    expect(await session.run(call, tool)).toMatchObject({ decision: { reason: "call_limit" } });
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok", "call-1:call_limit"]);
  });

  test("after it was suspended and went on without its result being kept: it is decided anew", async () => {
    const { session, audit } = await aSession({ plan: planOf({ tool: "send_money", maxCalls: 1 }) });
    const call = aSessionCall({ replayKey: "step" });
    const options = { ...SUSPENDING, keepsResults: false };
    await session.run(call, () => Promise.reject(new Error("wait")), options);
    expect(await session.run(call, () => "sent", options)).toMatchObject({ isError: false });
    expect(session.hasSuspended(call)).toBe(false);
    const tool = vi.fn();
    expect(await session.run(call, tool, options)).toMatchObject({ decision: { reason: "call_limit" } });
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok", "call-1:call_limit"]);
  });

  test.each([true, false])("with the result of the first, if that is kept: %s", async (keepsResults) => {
    const { session } = await aSession();
    const call = aSessionCall({ replayKey: "step" });
    const tool = vi.fn(() => "sent");
    for (let times = 0; times < 2; times++) await session.run(call, tool, { keepsResults });
    expect(tool).toHaveBeenCalledTimes(keepsResults ? 1 : 2);
  });
});

describe("what the gate's answer means", () => {
  test("a block of an aborted call stays, and has no outcome", async () => {
    const abort = new AbortController();
    const block = {
      verdict: "block",
      reason: "call_limit",
      message: "m",
      callId: "call-1",
      tool: "send_money",
      seq: 3,
    };
    const gate = new ScriptedGate({
      check: [
        () => {
          abort.abort();
          return block;
        },
      ],
    });
    const { session } = await aSession({ gate });
    const result = await session.run(aSessionCall({ signal: abort.signal }), vi.fn());
    expect(result).toMatchObject({ decision: { reason: "call_limit" } });
    expect(gate.outcomes).toEqual([]);
  });

  test.each([["text"], [["to"]], [5]])("allowed arguments that are no object are none: %j", async (made) => {
    const tools = [aTool({ parse: () => made })];
    const { session } = await aSession({ gate: new ScriptedGate(), tools });
    const tool = vi.fn();
    const result = await session.run(aSessionCall(), tool);
    expect(result).toMatchObject({ isError: true, decision: { verdict: "block", reason: "internal_error" } });
    expect(tool).not.toHaveBeenCalled();
  });

  test("a refused call has the block that the gate has recorded", async () => {
    const block = { verdict: "block", reason: "plan_revoked", message: "m", seq: 3 };
    const { session } = await aSession({ gate: new ScriptedGate({ check: [() => block] }) });
    const result = await session.run(aSessionCall({ tool: "other" }), vi.fn());
    expect(result).toMatchObject({ decision: block });
  });

  test("the wait for a person ends with the run and with the call, whichever comes first", async () => {
    for (const which of [0, 1]) {
      const ends = [new AbortController(), new AbortController()] as const;
      const gate = new ScriptedGate({ check: [hold], awaitHold: () => ({ status: "timeout" }) });
      const { session } = await aSession({ gate, signal: ends[0].signal });
      await session.run(aSessionCall({ signal: ends[1].signal }), vi.fn());
      expect(gate.waits[0]?.signal?.aborted).toBe(false);
      ends[which as 0 | 1].abort();
      expect(gate.waits[0]?.signal?.aborted).toBe(true);
    }
  });

  test.each<[string, unknown, string]>([
    ["was rejected", { status: "rejected" }, "hold_rejected"],
    ["was not decided", { status: "timeout" }, "hold_timeout"],
    ["cannot be", { status: "blocked", reason: "server_unavailable", detail: "d" }, "server_unavailable"],
    ["was approved, and is held again", { status: "approved", approval: "x" }, "hold_rejected"],
    ["has no answer", { status: "other" }, "internal_error"],
  ])("a held call that %s is blocked by the gate", async (_name, answer, reason) => {
    const { session } = await aSession({ gate: new ScriptedGate({ check: [hold], awaitHold: () => answer }) });
    const result = await session.run(aSessionCall(), vi.fn());
    expect(result).toMatchObject({ decision: { reason, stage: "gate", planId: PLAN_ID, tool: "send_money" } });
  });

  test.each<[string, Partial<Parameters<typeof aSessionCall>[0]>, object]>([
    ["a tool that there is not", { tool: "other" }, { reason: "unknown_tool", stage: "parse" }],
    ["no arguments", { args: 1n }, { reason: "invalid_call", stage: "parse" }],
    ["an aborted run", { signal: AbortSignal.abort() }, { reason: "aborted", stage: "gate" }],
  ])("a call of %s says at which stage it was refused", async (_name, over, decision) => {
    const { session } = await aSession();
    expect(await session.run(aSessionCall(over), vi.fn())).toMatchObject({ decision });
  });
});
