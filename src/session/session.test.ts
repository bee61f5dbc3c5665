import { describe, expect, test, vi } from "vitest";
import { aPolicy, aRule } from "../../test/builders.ts";
import { aSession, aSessionCall, aTool, listEntries, listEvents, planOf, ScriptedGate } from "../../test/sessions.ts";
import type { JsonObject } from "../core/index.ts";
import { LocalGate, MemoryAuditSink } from "../gates/index.ts";
import type { SessionCall } from "./call-decider.ts";
import type { Session } from "./session.ts";

const ONCE = planOf({ tool: "send_money", maxCalls: 1 });
const TWICE = planOf({ tool: "send_money", maxCalls: 2 });

function boom(): never {
  throw new Error("boom");
}

describe("one call", () => {
  test("an allowed one runs once and gives its result", async () => {
    const { session, audit } = await aSession();
    const tool = vi.fn(async () => "sent");
    const result = await session.run(aSessionCall(), tool);
    expect(result).toMatchObject({
      callId: "call-1",
      isError: false,
      content: "sent",
      decision: { verdict: "allow", callId: "call-1", step: 0 },
    });
    expect(tool).toHaveBeenCalledTimes(1);
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });

  test("a blocked one does not run, and its result is what the model may read", async () => {
    const { session, audit } = await aSession();
    const tool = vi.fn();
    const result = await session.run(aSessionCall({ tool: "delete_all" }), tool);
    expect(result).toMatchObject({ callId: "call-1", isError: true, decision: { verdict: "block" } });
    expect(result.content).toBe(
      "Blocked by Intentlock (unknown_tool): the session has no such tool\nThere is no tool of this name.",
    );
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toEqual(["call-1:unknown_tool"]);
  });

  test("a tool that returns nothing has a result all the same", async () => {
    const { session } = await aSession();
    expect(await session.run(aSessionCall(), () => undefined)).toMatchObject({ isError: false, content: undefined });
  });

  test("a tool that throws has used its call", async () => {
    const { session, audit } = await aSession({ plan: ONCE });
    const error = new Error("boom");
    const failed = await session.run(aSessionCall(), async () => await Promise.reject(error));
    expect(failed).toMatchObject({ isError: true, content: "Tool failed: boom", decision: { verdict: "allow" } });
    expect(failed).toHaveProperty("error", error);
    const again = await session.run(aSessionCall({ callId: "call-2" }), () => "sent");
    expect(again).toMatchObject({ isError: true, decision: { reason: "call_limit" } });
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed", "call-2:call_limit"]);
  });
});

describe("run does not reject", () => {
  const hostile = new Proxy(() => undefined, { get: boom, getPrototypeOf: boom });

  test.each<[string, unknown, string]>([
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a text", "no money", "no money"],
    ["an object without a prototype", Object.create(null), "an error that cannot be read"],
    ["an object whose toString throws", { toString: boom }, "an error that cannot be read"],
    ["a proxy", hostile, "an error that cannot be read"],
    [
      "an error whose message is a getter",
      Object.defineProperty(new Error(), "message", { get: boom }),
      "an error that cannot be read",
    ],
  ])("for a tool that throws %s", async (_name, thrown, words) => {
    const { session, audit } = await aSession();
    const throwing = (): never => {
      throw thrown;
    };
    const result = await session.run(aSessionCall(), throwing);
    expect(result).toMatchObject({ isError: true, content: `Tool failed: ${words}` });
    expect("error" in result && Object.is(result.error, thrown)).toBe(true);
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed"]);
  });

  test.each<[string, unknown, string]>([
    ["no call", undefined, "unknown_tool"],
    ["a call that cannot be read", new Proxy({}, { get: boom }), "unknown_tool"],
    ["a tool that is no name", { ...aSessionCall(), tool: { toString: boom } }, "internal_error"],
    ["an id that is no text", { ...aSessionCall(), callId: 7 }, "invalid_call"],
    ["a signal that is none", { ...aSessionCall(), signal: new Proxy({}, { get: boom }) }, "internal_error"],
  ])("for %s", async (_name, call, reason) => {
    const { session } = await aSession();
    const tool = vi.fn();
    const result = await session.run(call as never, tool);
    expect(result).toMatchObject({ isError: true, decision: { verdict: "block", reason } });
    expect(tool).not.toHaveBeenCalled();
  });
});

describe("what is checked is what runs", () => {
  test("the arguments are frozen, all the way down", async () => {
    const { session } = await aSession();
    const given = { to: "landlord", items: [{ amount: 1 }] };
    const { content } = await session.run(aSessionCall({ args: given }), (args) => args);
    expect(content).toEqual(given);
    expect(content).not.toBe(given);
    for (const part of [content, (content as typeof given).items, (content as typeof given).items[0]]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("a change of the arguments after the call started is not seen", async () => {
    const { session } = await aSession({ plan: planOf({ tool: "send_money", args: { to: { eq: "landlord" } } }) });
    const args = { to: "landlord", deep: { amount: 1 } };
    const running = session.run(aSessionCall({ args }), (checked) => checked);
    args.to = "attacker";
    args.deep.amount = 1000;
    expect((await running).content).toEqual({ to: "landlord", deep: { amount: 1 } });
  });

  test("each argument is read once", async () => {
    const { session } = await aSession({ plan: planOf({ tool: "send_money", args: { to: { eq: "landlord" } } }) });
    const answers = ["landlord", "attacker", "attacker"];
    let reads = 0;
    const args = Object.defineProperty({}, "to", { enumerable: true, get: () => answers[reads++] });
    expect((await session.run(aSessionCall({ args }), (checked) => checked)).content).toEqual({ to: "landlord" });
    expect(reads).toBe(1);
  });

  // The second reading would give what the plan allows, and a third one what the attacker wants.
  test("arguments that can be read only the second time do not run", async () => {
    const { session, audit } = await aSession();
    let reads = 0;
    const to = (): string => {
      if (reads++ === 0) throw new Error("not yet");
      return "landlord";
    };
    const tool = vi.fn();
    const args = Object.defineProperty({}, "to", { enumerable: true, get: to });
    const result = await session.run(aSessionCall({ args }), tool);
    expect(result).toMatchObject({ isError: true, decision: { reason: "invalid_call" } });
    expect(result.content).toMatch("the arguments are not strict JSON at to: reading it threw an error");
    expect(tool).not.toHaveBeenCalled();
    expect(reads).toBe(1);
    expect(listEntries(audit)).toEqual(["call-1:invalid_call"]);
  });

  test.each<[string, unknown, string]>([
    ["a date", { when: new Date(0) }, "at when: an instance of Date is not JSON"],
    ["undefined", { list: [undefined] }, "at list[0]: undefined is not JSON"],
    ["nothing at all", undefined, "undefined is not JSON"],
    ["a text", "to: landlord", "not an object"],
    ["a list", [], "not an object"],
    ["null", null, "not an object"],
  ])("%s is no argument list", async (_name, args, words) => {
    const { session } = await aSession();
    const tool = vi.fn();
    const result = await session.run(aSessionCall({ args }), tool);
    expect(result).toMatchObject({ isError: true, decision: { reason: "invalid_call" } });
    expect(result.content).toMatch(words);
    expect(tool).not.toHaveBeenCalled();
  });

  test("an argument called __proto__ is one", async () => {
    const { session } = await aSession();
    const args = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as JsonObject;
    const { content } = await session.run(aSessionCall({ args }), (checked) => checked);
    expect(JSON.stringify(content)).toBe('{"__proto__":{"admin":true},"constructor":1}');
    expect(content).not.toHaveProperty("admin");
  });
});

describe("ids of calls in flight", () => {
  /** Starts a call that waits until it is told to end. */
  function startCall(session: Session, over = {}): { done: (value: string) => void; result: Promise<unknown> } {
    const { promise, resolve } = Promise.withResolvers<string>();
    return { done: resolve, result: session.run(aSessionCall(over), () => promise) };
  }

  test("the same id with other content is invalid, and the first call runs", async () => {
    const { session, audit } = await aSession();
    const first = startCall(session);
    const tool = vi.fn();
    const other = await session.run(aSessionCall({ args: { to: "attacker" } }), tool);
    expect(other).toMatchObject({ callId: "call-1", isError: true, decision: { reason: "invalid_call" } });
    expect(other.content).toMatch("another call is in flight under the same id");
    first.done("sent");
    expect(await first.result).toMatchObject({ isError: false, content: "sent" });
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit).toSorted()).toEqual(["call-1:allow", "call-1:invalid_call", "ok"]);
  });

  test("a call that clashed does not take the place of the first", async () => {
    const { session } = await aSession();
    const first = startCall(session);
    await session.run(aSessionCall({ args: {} }), boom);
    const again = await session.run(aSessionCall({ args: {} }), boom);
    expect(again).toMatchObject({ decision: { reason: "invalid_call" } });
    first.done("sent");
    expect(await first.result).toMatchObject({ content: "sent" });
  });

  test.each<[string, object]>([
    ["another tool", { tool: "other" }],
    ["another fingerprint", { fingerprint: "of another tool" }],
  ])("the same id and arguments with %s is other content", async (_name, over) => {
    const { session } = await aSession();
    const first = startCall(session);
    expect(await session.run(aSessionCall(over), boom)).toMatchObject({ decision: { reason: "invalid_call" } });
    first.done("sent");
    await first.result;
  });

  test("the same id with the same content is the same call: one run, one entry, one result", async () => {
    const { session, audit } = await aSession({ plan: ONCE });
    const tool = vi.fn(async () => "sent");
    const twins = [aSessionCall(), aSessionCall({ args: { amount: 20, to: "landlord" } }), aSessionCall()];
    const results = await Promise.all(twins.map(async (call) => await session.run(call, tool)));
    for (const result of results) expect(result).toMatchObject({ callId: "call-1", isError: false, content: "sent" });
    expect(tool).toHaveBeenCalledTimes(1);
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });

  test("twins share a failure too", async () => {
    const { session } = await aSession();
    const tool = vi.fn(boom);
    const results = await Promise.all([session.run(aSessionCall(), tool), session.run(aSessionCall(), tool)]);
    expect(results.map(({ content }) => content)).toEqual(["Tool failed: boom", "Tool failed: boom"]);
    expect(tool).toHaveBeenCalledTimes(1);
  });

  // The second reading of the id must not lead to the result of another call.
  test("an id that reads differently the second time is not joined to another call", async () => {
    const { session } = await aSession();
    const first = startCall(session, { callId: "call-1" });
    const ids = ["call-2", "call-1"];
    const call = Object.defineProperty(aSessionCall(), "callId", { get: () => ids.shift() ?? "call-1" });
    const tool = vi.fn(() => "own");
    expect(await session.run(call, tool)).toMatchObject({ callId: "call-2", content: "own" });
    first.done("sent");
    await first.result;
  });

  test("a finished id that comes again is a new call, and counts", async () => {
    const { session, audit } = await aSession({ plan: TWICE });
    const tool = vi.fn();
    for (let call = 0; call < 3; call++) await session.run(aSessionCall(), tool);
    expect(tool).toHaveBeenCalledTimes(2);
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok", "call-1:allow", "ok", "call-1:call_limit"]);
  });

  test.each<[string, () => unknown]>([
    ["failed", boom],
    ["ended", () => "sent"],
  ])("a call that %s is not in flight any more", async (_name, tool) => {
    const { session } = await aSession();
    await session.run(aSessionCall(), tool);
    const other = await session.run(aSessionCall({ args: { to: "somebody" } }), () => "sent");
    expect(other).toMatchObject({ isError: false });
  });

  test("a blocked call is not in flight any more", async () => {
    const { session } = await aSession();
    await session.run(aSessionCall({ args: undefined }), boom);
    expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ isError: false });
  });

  test("parallel calls never exceed a limit", async () => {
    const { session } = await aSession({ plan: TWICE });
    const tool = vi.fn(async () => await Promise.resolve("sent"));
    const calls = Array.from({ length: 20 }, (_, index) => aSessionCall({ callId: `call-${index}` }));
    const results = await Promise.all(calls.map(async (call) => await session.run(call, tool)));
    expect(tool).toHaveBeenCalledTimes(2);
    expect(results.filter(({ isError }) => !isError)).toHaveLength(2);
    expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ callId }) => callId));
  });
});

describe("a result in parts", () => {
  async function* parts(): AsyncGenerator<string> {
    yield "half";
    yield "whole";
  }

  async function drain<T, R>(stream: AsyncGenerator<T, R>): Promise<{ parts: T[]; result: R }> {
    const seen: T[] = [];
    for (;;) {
      const next = await stream.next();
      if (next.done) return { parts: seen, result: next.value };
      seen.push(next.value);
    }
  }

  test("comes in parts, and the last one is the result", async () => {
    const { session, audit } = await aSession();
    const { parts: seen, result } = await drain(session.stream(aSessionCall(), parts));
    expect(seen).toEqual(["half", "whole"]);
    expect(result).toMatchObject({ callId: "call-1", isError: false, content: "whole" });
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });

  test("a blocked one has no parts", async () => {
    const { session } = await aSession();
    const tool = vi.fn(parts);
    const { parts: seen, result } = await drain(session.stream(aSessionCall({ tool: "other" }), tool));
    expect(seen).toEqual([]);
    expect(result).toMatchObject({ isError: true, decision: { reason: "unknown_tool" } });
    expect(tool).not.toHaveBeenCalled();
  });

  test.each<[string, () => AsyncIterable<string>]>([
    ["at once", boom],
    [
      "in between",
      async function* () {
        yield "half";
        boom();
      },
    ],
    ["because it is no iterable", () => 7 as never],
  ])("a tool that throws %s has failed", async (_name, tool) => {
    const { session, audit } = await aSession();
    const { result } = await drain(session.stream(aSessionCall(), tool));
    expect(result).toMatchObject({ isError: true, content: expect.stringMatching(/^Tool failed: /) });
    expect(result).toHaveProperty("error", expect.any(Error));
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed"]);
  });

  test("what became of a call is unknown when its reader stops early; the tool is told to stop", async () => {
    const { session, audit } = await aSession();
    const cleanUp = vi.fn();
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield "part";
      } finally {
        cleanUp();
      }
    }
    for await (const _part of session.stream(aSessionCall(), endless)) break;
    expect(cleanUp).toHaveBeenCalledTimes(1);
    expect(listEntries(audit)).toEqual(["call-1:allow", "unknown"]);
    const other = await session.run(aSessionCall({ args: {} }), () => "sent");
    expect(other, "the id is free again").toMatchObject({ isError: false });
  });

  test("a stream that nobody reads asks nothing", async () => {
    const { session, audit } = await aSession();
    session.stream(aSessionCall(), parts);
    expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ isError: false });
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });

  test.each<[string, JsonObject]>([
    ["the same", { to: "landlord", amount: 20 }],
    ["other", {}],
  ])("its id in flight with %s content is invalid, for run and for stream", async (_name, args) => {
    const { session } = await aSession();
    const stream = session.stream(aSessionCall(), parts);
    await stream.next();
    const call = aSessionCall({ args });
    expect(await session.run(call, boom)).toMatchObject({ decision: { reason: "invalid_call" } });
    const { result } = await drain(session.stream(call, boom));
    expect(result).toMatchObject({ decision: { reason: "invalid_call" } });
    expect((await drain(stream)).result).toMatchObject({ isError: false, content: "whole" });
  });

  test("gets the arguments as they were checked", async () => {
    const { session } = await aSession();
    const args = { to: "landlord" };
    const stream = session.stream(aSessionCall({ args }), async function* (checked) {
      yield checked;
    });
    const first = stream.next();
    args.to = "attacker";
    expect(await first).toEqual({ done: false, value: { to: "landlord" } });
    await drain(stream);
  });
});

describe("peek", () => {
  test("says what the answer would be, takes nothing and records nothing", async () => {
    const { session, audit, events } = await aSession({ plan: ONCE });
    const told = events.length;
    for (let time = 0; time < 3; time++) expect(await session.peek(aSessionCall())).toMatchObject({ verdict: "allow" });
    expect(listEntries(audit)).toEqual([]);
    expect(events).toHaveLength(told);
    expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ isError: false });
    expect(await session.peek(aSessionCall())).toMatchObject({ verdict: "block", reason: "call_limit" });
  });

  test("of a call in flight is not a clash", async () => {
    const { session } = await aSession();
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = session.run(aSessionCall(), () => promise);
    expect(await session.peek(aSessionCall({ args: {} }))).toMatchObject({ verdict: "allow" });
    resolve();
    await running;
  });

  test.each<[string, object, string]>([
    ["of a tool that there is not", aSessionCall({ tool: "other" }), "unknown_tool"],
    ["of arguments that are not JSON", aSessionCall({ args: { at: new Date(0) } }), "invalid_call"],
    ["of a call that cannot be read", new Proxy({}, { get: boom }), "unknown_tool"],
    ["of a tool that is no name", { ...aSessionCall(), tool: { toString: boom } }, "internal_error"],
  ])("does not reject: %s", async (_name, call, reason) => {
    const { session } = await aSession();
    expect(await session.peek(call as never)).toMatchObject({ verdict: "block", reason });
  });

  test.each<[string, () => unknown]>([
    ["throws", boom],
    ["gives nothing", () => undefined],
    ["gives an allow to another call", () => ({ verdict: "allow", callId: "call-2", tool: "send_money" })],
  ])("of a gate that %s is a block, and no event", async (_name, peek) => {
    const { session, events } = await aSession({ gate: new ScriptedGate({ peek }) });
    expect(await session.peek(aSessionCall())).toMatchObject({ verdict: "block", reason: "internal_error" });
    expect(listEvents(events)).toEqual(["plan_signed"]);
  });
});

describe("a closed session", () => {
  test("blocks further calls as aborted, and is closed on record once", async () => {
    const { session, audit } = await aSession();
    await session.close();
    await session.close();
    const tool = vi.fn();
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ isError: true, decision: { reason: "aborted" } });
    expect(await session.stream(aSessionCall(), boom).next()).toMatchObject({
      done: true,
      value: { decision: { reason: "aborted" } },
    });
    expect(await session.peek(aSessionCall())).toMatchObject({ reason: "aborted" });
    expect(tool).not.toHaveBeenCalled();
    expect(audit.entries.map(({ event }) => event.type)).toEqual(["plan_signed", "closed"]);
  });

  test("is what `await using` leaves", async () => {
    const { session, audit } = await aSession();
    {
      await using using = session;
      await using.run(aSessionCall(), () => "sent");
    }
    expect(audit.entries.at(-1)?.event.type).toBe("closed");
  });

  test("says to everybody who closes it that it could not be recorded", async () => {
    const record = vi.fn(boom);
    const { session } = await aSession({ gate: new ScriptedGate({ record }) });
    const closing = [session.close(), session.close()];
    for (const close of closing) await expect(close).rejects.toThrow("boom");
    await expect(session.close()).rejects.toThrow("boom");
    expect(record).toHaveBeenCalledTimes(1);
    expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ decision: { reason: "aborted" } });
  });

  test("a call that runs while it is closed ends with its result", async () => {
    const { session } = await aSession();
    const { promise, resolve } = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    const running = session.run(aSessionCall(), () => {
      started.resolve();
      return promise;
    });
    await started.promise;
    await session.close();
    resolve("sent");
    expect(await running).toMatchObject({ isError: false, content: "sent" });
  });
});

test("two sessions of one gate count apart", async () => {
  const gate = new LocalGate({ policy: aPolicy(aRule()) });
  const sessions = await Promise.all([aSession({ gate, plan: ONCE }), aSession({ gate, plan: ONCE })]);
  for (const { session } of sessions) {
    expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ isError: false });
  }
  expect(sessions[0].session.planId).not.toBe(sessions[1].session.planId);
});

test("a session says which plan it has", async () => {
  const { session } = await aSession({ plan: ONCE, tools: [aTool()] });
  expect(session.plan).toEqual(ONCE);
  expect(session.planId).toMatch(/^[0-9a-f-]{36}$/);
});

test("a call that the adapter refuses is blocked and on record, whatever the plan says", async () => {
  const { session, audit } = await aSession();
  const refusal = { reason: "unknown_tool", detail: "it is not locked" } as const;
  const ran = vi.fn();
  const result = await session.run(aSessionCall({ refusal }), ran);
  expect(result).toMatchObject({ isError: true, decision: { verdict: "block", reason: "unknown_tool" } });
  expect(ran).not.toHaveBeenCalled();
  expect(audit.entries.at(-1)?.event).toMatchObject({ type: "decision", verdict: "allow", answer: "unknown_tool" });
});

test("can be closed after its gate", async () => {
  const audit = new MemoryAuditSink();
  const gate = new LocalGate({ policy: aPolicy(), audit });
  const { session } = await aSession({ gate });
  await gate.close();
  await expect(session.close()).resolves.toBeUndefined();
  expect(audit.entries.filter(({ event }) => event.type === "closed")).toHaveLength(1);
});

describe("a step that the framework runs again", () => {
  const replayKey = "task-1";
  const again = aSessionCall({ replayKey });
  class Suspension extends Error {}
  const isSuspension = (thrown: unknown): boolean => thrown instanceof Suspension;
  const suspend = (): never => {
    throw new Suspension("wait");
  };

  test("gets the result that it has, without a second count or entry", async () => {
    const { session, audit } = await aSession({ plan: ONCE });
    const tool = vi.fn(async () => ({ sent: true }));
    const first = await session.run(again, tool);
    expect(await session.run({ ...again, args: { amount: 20, to: "landlord" } }, tool)).toBe(first);
    expect(tool).toHaveBeenCalledTimes(1);
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });

  test.each<[string, Partial<SessionCall>]>([
    ["another step", { replayKey: "task-2" }],
    ["no step", { replayKey: undefined }],
    ["another id", { callId: "call-2" }],
    ["other arguments", { args: { to: "landlord", amount: 21 } }],
    ["another fingerprint", { fingerprint: "sha256:other" }],
    ["a refusal", { refusal: { reason: "invalid_args", detail: "no" } }],
  ])("gets a decision of its own with %s", async (_name, over) => {
    const { session, audit } = await aSession({ plan: ONCE });
    await session.run(again, () => "sent");
    const tool = vi.fn();
    expect(await session.run({ ...again, ...over }, tool)).toMatchObject({ decision: { verdict: "block" } });
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toHaveLength(3);
  });

  test("is a retry if the call failed, and counts", async () => {
    const { session, audit } = await aSession({ plan: TWICE });
    await session.run(again, boom);
    expect(await session.run(again, () => "sent")).toMatchObject({ content: "sent" });
    expect(await session.run({ ...again, callId: "call-2" }, () => "sent")).toMatchObject({ isError: true });
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed", "call-1:allow", "ok", "call-2:call_limit"]);
  });

  test("is decided again if the call was blocked", async () => {
    const { session, audit } = await aSession({ plan: ONCE });
    const other = aSessionCall({ replayKey, tool: "delete_all" });
    for (let run = 0; run < 2; run++) await session.run(other, () => "deleted");
    expect(listEntries(audit)).toEqual(["call-1:unknown_tool", "call-1:unknown_tool"]);
  });

  test("goes on where the tool suspended it, under the decision that it has", async () => {
    const { session, audit } = await aSession({ plan: ONCE });
    const suspended = await session.run(again, suspend, { isSuspension });
    expect(suspended).toMatchObject({ isError: true, error: expect.any(Suspension), decision: { verdict: "allow" } });
    expect(session.hasSuspended(again)).toBe(true);
    expect(listEntries(audit)).toEqual(["call-1:allow"]);
    const tool = vi.fn((args: JsonObject) => args);
    expect(await session.run(again, tool)).toMatchObject({ content: again.args });
    expect(session.hasSuspended(again)).toBe(false);
    expect(tool).toHaveBeenCalledTimes(1);
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });

  test("suspends as often as the tool likes, and fails once", async () => {
    const { session, audit } = await aSession({ plan: ONCE });
    for (let run = 0; run < 3; run++) await session.run(again, suspend, { isSuspension });
    await session.run(again, boom, { isSuspension });
    expect(session.hasSuspended(again)).toBe(false);
    expect(await session.run(again, () => "sent")).toMatchObject({ decision: { reason: "call_limit" } });
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed", "call-1:call_limit"]);
  });

  test.each<[string, Partial<SessionCall>]>([
    ["another step", { replayKey: "task-2" }],
    ["no step", { replayKey: undefined }],
    ["another id", { callId: "call-2" }],
    ["another tool", { tool: "read_page" }],
    ["other arguments", { args: { to: "attacker", amount: 20 } }],
    ["arguments that are not JSON", { args: new Map() }],
  ])("is not suspended with %s", async (_name, over) => {
    const { session } = await aSession({ plan: ONCE });
    await session.run(again, suspend, { isSuspension });
    expect(session.hasSuspended({ ...again, ...over })).toBe(false);
    const tool = vi.fn();
    await session.run({ ...again, ...over }, tool);
    expect(tool).not.toHaveBeenCalled();
  });

  test("has failed if what was thrown suspends nothing, or the step has no name", async () => {
    const { session, audit } = await aSession({ plan: TWICE });
    await session.run(again, boom, { isSuspension });
    await session.run(aSessionCall(), suspend, { isSuspension });
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed", "call-1:allow", "failed"]);
  });

  test("does not go on once the session is closed, which settles what is suspended", async () => {
    const { session, audit } = await aSession();
    await session.run(again, suspend, { isSuspension });
    await session.close();
    const tool = vi.fn();
    expect(await session.run(again, tool)).toMatchObject({ decision: { reason: "aborted" } });
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toEqual(["call-1:allow", "unknown"]);
  });

  test("does not go on while its signal is aborted, and does later", async () => {
    const { session, audit } = await aSession({ plan: ONCE });
    await session.run(again, suspend, { isSuspension });
    const tool = vi.fn(() => "sent");
    const aborted = await session.run({ ...again, signal: AbortSignal.abort() }, tool);
    expect(aborted).toMatchObject({ decision: { reason: "aborted" } });
    expect(tool).not.toHaveBeenCalled();
    expect(await session.run(again, tool)).toMatchObject({ content: "sent" });
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });

  test("goes on once if it is run twice at a time", async () => {
    const { session } = await aSession({ plan: ONCE });
    await session.run(again, suspend, { isSuspension });
    const tool = vi.fn(async () => "sent");
    const [first, second] = await Promise.all([session.run(again, tool), session.run(again, tool)]);
    expect(first).toBe(second);
    expect(tool).toHaveBeenCalledTimes(1);
  });

  test("is forgotten after many others, and then counts again", async () => {
    const { session } = await aSession();
    const tool = vi.fn(() => "sent");
    for (let run = 0; run < 257; run++) await session.run({ ...again, callId: `call-${run}` }, tool);
    await session.run({ ...again, callId: "call-256" }, tool);
    expect(tool).toHaveBeenCalledTimes(257);
    await session.run({ ...again, callId: "call-0" }, tool);
    expect(tool).toHaveBeenCalledTimes(258);
  });
});
