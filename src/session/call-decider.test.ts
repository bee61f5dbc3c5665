import { describe, expect, test, vi } from "vitest";
import { aPolicy, PLAN_ID } from "../../test/builders.ts";
import {
  type Answer,
  allow,
  anAllow,
  aSession,
  aSessionCall,
  aTool,
  type GateScript,
  hold,
  listEntries,
  listEvents,
  planOf,
  ScriptedGate,
  untilAborted,
} from "../../test/sessions.ts";
import type { AuditEntry } from "../core/index.ts";
import { type GateCall, LocalGate, MemoryAuditSink } from "../gates/index.ts";
import type { SessionOptions } from "./start-session.ts";

const APPROVED = { status: "approved", approval: "approval-token", approvedBy: "bob@acme.dev" } as const;

/** A session of a scripted gate, and a tool that must not run unless a test says so. */
async function scripted(script: GateScript, over: Partial<SessionOptions> = {}) {
  const gate = new ScriptedGate(script);
  const { session, events } = await aSession({ gate, ...over });
  const tool = vi.fn(() => "sent");
  return { gate, session, events, tool };
}

function boom(): never {
  throw new Error("boom");
}

describe("a gate that does not answer the call", () => {
  test.each<[string, Answer]>([
    ["throws", boom],
    ["throws nothing", () => Promise.reject(undefined)],
    ["hangs and then rejects", async () => await Promise.resolve().then(boom)],
    ["gives undefined", () => undefined],
    ["gives null", () => null],
    ["gives a text", () => "allow"],
    ["gives true", () => true],
    ["gives an unknown verdict", (call) => ({ ...anAllow(call), verdict: "ALLOW" })],
    ["gives an allow without a call", () => ({ verdict: "allow" })],
    ["allows another call", () => anAllow({ callId: "call-2" })],
    ["allows another tool", () => anAllow({ tool: "other" })],
    ["holds another call", (call) => hold({ ...call, callId: "call-2" })],
    ["blocks without a message", () => ({ verdict: "block", reason: "not_in_plan" })],
    [
      "gives what throws when it is read",
      () => new Proxy({}, { get: (_, name) => (name === "then" ? undefined : boom()) }),
    ],
  ])("%s: the call is blocked as internal_error", async (_name, answer) => {
    const { session, events, tool } = await scripted({ check: [answer] });
    const result = await session.run(aSessionCall(), tool);
    expect(result).toMatchObject({
      callId: "call-1",
      isError: true,
      decision: { verdict: "block", reason: "internal_error", callId: "call-1", tool: "send_money", planId: PLAN_ID },
    });
    expect(result.content).not.toMatch("boom");
    expect(tool).not.toHaveBeenCalled();
    expect(listEvents(events)).toEqual(["plan_signed", "error", "block:internal_error"]);
  });

  test("allows what was refused before it was asked: it does not run", async () => {
    const { session, tool } = await scripted({ check: [(call) => anAllow(call)] });
    const result = await session.run(aSessionCall({ tool: "other" }), tool);
    expect(result).toMatchObject({ decision: { reason: "unknown_tool" } });
    expect(tool).not.toHaveBeenCalled();
  });

  test("holds what was refused before it was asked: nobody is asked", async () => {
    const { session, gate, tool } = await scripted({ check: [hold] });
    const result = await session.run(aSessionCall({ tool: "other" }), tool);
    expect(result).toMatchObject({ decision: { reason: "unknown_tool" } });
    expect(gate.waits).toEqual([]);
  });
});

describe("the arguments that a tool's own schema makes", () => {
  async function withParse(
    parse: (args: unknown) => unknown,
    plan: SessionOptions["plan"] = planOf({ tool: "send_money" }),
  ) {
    return await aSession({ tools: [aTool({ parse })], ...(plan && { plan }) });
  }

  test("are what is checked and what runs", async () => {
    const plan = planOf({ tool: "send_money", args: { amount: { eq: 20 } } });
    const { session } = await withParse((args) => ({ ...(args as object), amount: 20 }), plan);
    const { content } = await session.run(aSessionCall({ args: { amount: "20" } }), (args) => args);
    expect(content).toEqual({ amount: 20 });
    expect(Object.isFrozen(content)).toBe(true);
  });

  test("are made once, of frozen arguments, also by an async schema", async () => {
    const parse = vi.fn(async (args: unknown) => (Object.isFrozen(args) ? { ok: true } : boom()));
    const { session } = await withParse(parse);
    expect(await session.run(aSessionCall(), (args) => args)).toMatchObject({ content: { ok: true } });
    expect(parse).toHaveBeenCalledTimes(1);
  });

  test("are not made again of what the framework has parsed", async () => {
    const parse = vi.fn(boom);
    const { session } = await withParse(parse);
    expect(await session.run(aSessionCall({ isParsed: true }), () => "sent")).toMatchObject({ content: "sent" });
    expect(parse).not.toHaveBeenCalled();
  });

  test("do not change when the schema changes what it gave", async () => {
    const made = { to: "landlord" };
    const plan = planOf({ tool: "send_money", args: { to: { eq: "landlord" } } });
    const { session } = await withParse(() => {
      queueMicrotask(() => {
        queueMicrotask(() => {
          made.to = "attacker";
        });
      });
      return made;
    }, plan);
    const result = await session.run(aSessionCall(), async (args) => args["to"]);
    expect(result.content).toBe("landlord");
  });

  test.each<[string, (args: unknown) => unknown, string]>([
    ["throws", () => boom(), "boom"],
    ["throws undefined", () => Promise.reject(undefined), "undefined"],
    [
      "throws what cannot be read",
      () => Promise.reject(new Proxy({}, { getPrototypeOf: boom })),
      "an error that cannot be read",
    ],
    [
      "makes a date",
      () => ({ list: [{ at: new Date(0) }] }),
      "not strict JSON at list[0].at: an instance of Date is not JSON",
    ],
    ["makes undefined", () => undefined, "not strict JSON: undefined is not JSON"],
    ["makes a big integer", () => ({ amount: 20n }), "not strict JSON at amount: bigint is not JSON"],
    [
      "makes what cannot be read",
      () => ({
        get to() {
          return boom();
        },
      }),
      "not strict JSON at to: reading it threw an error",
    ],
  ])("are invalid_args if it %s", async (_name, parse, words) => {
    const { session, audit } = await withParse(parse);
    const tool = vi.fn();
    const result = await session.run(aSessionCall(), tool);
    expect(result).toMatchObject({ isError: true, decision: { reason: "invalid_args", stage: "schema" } });
    expect(result.content).toMatch(words);
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toEqual(["call-1:invalid_args"]);
  });

  test("a very long complaint is cut", async () => {
    const { session } = await withParse(() => {
      throw new Error("x".repeat(100_000));
    });
    const { content } = await session.run(aSessionCall(), boom);
    expect((content as string).length).toBeLessThan(1200);
  });

  test.each([
    ["a list", []],
    ["a text", "args"],
    ["null", null],
  ])("are no arguments if they are %s", async (_name, made) => {
    const { session } = await withParse(() => made);
    const tool = vi.fn();
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ decision: { reason: "invalid_call" } });
    expect(tool).not.toHaveBeenCalled();
  });

  test("are not asked for when the call is refused already", async () => {
    const parse = vi.fn();
    const { session } = await withParse(parse);
    await session.run(aSessionCall({ args: { at: new Date(0) } }), boom);
    await session.run(aSessionCall({ signal: AbortSignal.abort() }), boom);
    expect(parse).not.toHaveBeenCalled();
  });
});

describe("fingerprints", () => {
  test("the one that was signed goes with the call, unless the call has its own", async () => {
    const { session, gate, tool } = await scripted({});
    await session.run(aSessionCall(), tool);
    await session.run(aSessionCall({ fingerprint: "changed" }), tool);
    expect(gate.checks.map(({ fingerprint }) => fingerprint)).toEqual([gate.signs[0]?.tools["send_money"], "changed"]);
  });

  test.each(["constructor", "__proto__", "toString"])("a tool called %s that there is not has none", async (name) => {
    const { session, gate, tool } = await scripted({});
    const result = await session.run(aSessionCall({ tool: name }), tool);
    expect(result).toMatchObject({ decision: { reason: "unknown_tool", tool: name } });
    expect(gate.checks[0]).not.toHaveProperty("fingerprint");
  });

  test("a tool that changed after signing is blocked", async () => {
    const { session, audit } = await aSession();
    const tool = vi.fn();
    const result = await session.run(aSessionCall({ fingerprint: "changed" }), tool);
    expect(result).toMatchObject({ decision: { reason: "tool_changed" } });
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toEqual(["call-1:tool_changed"]);
  });
});

/** The run's signal and the call's signal do the same. */
const SIGNALS = [
  ["the session", (signal: AbortSignal) => ({ session: { signal }, call: {} })],
  ["the call", (signal: AbortSignal) => ({ session: {}, call: { signal } })],
  [
    "the session, of a call that has its own",
    (signal: AbortSignal) => ({ session: { signal }, call: { signal: new AbortController().signal } }),
  ],
] as const;

describe.each(SIGNALS)("a call is aborted by the signal of %s", (_name, place) => {
  test("before the check: it is on record and does not run", async () => {
    const { session: sessionOver, call } = place(AbortSignal.abort());
    const { session, audit } = await aSession(sessionOver);
    const tool = vi.fn();
    expect(await session.run(aSessionCall(call), tool)).toMatchObject({ decision: { reason: "aborted" } });
    expect(tool).not.toHaveBeenCalled();
    expect(listEntries(audit)).toEqual(["call-1:aborted"]);
  });

  test("during the check: what was taken is given back", async () => {
    const controller = new AbortController();
    const { session: sessionOver, call } = place(controller.signal);
    const plan = planOf({ tool: "send_money", maxCalls: 1 });
    const { session, audit, events } = await aSession({ ...sessionOver, plan });
    const tool = vi.fn();
    const running = session.run(aSessionCall(call), tool);
    controller.abort();
    expect(await running).toMatchObject({ isError: true, decision: { reason: "aborted" } });
    expect(tool).not.toHaveBeenCalled();
    // Whether the gate had been asked by then or not: nothing is taken, and nobody was told of an allow.
    expect(["call-1:aborted", "call-1:allow,aborted"]).toContain(listEntries(audit).join());
    expect(listEvents(events)).toEqual(["plan_signed", "block:aborted"]);
  });

  test("while the gate decides: it is told that the tool never started", async () => {
    const controller = new AbortController();
    const { session: sessionOver, call } = place(controller.signal);
    const abort: Answer = (asked) => {
      controller.abort();
      return allow(asked);
    };
    const { session, gate, events, tool } = await scripted({ check: [abort] }, sessionOver);
    expect(await session.run(aSessionCall(call), tool)).toMatchObject({ decision: { reason: "aborted" } });
    expect(tool).not.toHaveBeenCalled();
    expect(gate.outcomes).toEqual([{ type: "outcome", planId: PLAN_ID, decisionSeq: 7, status: "aborted" }]);
    expect(listEvents(events)).toEqual(["plan_signed", "block:aborted"]);
  });

  test("while it is held: the wait ends", async () => {
    const controller = new AbortController();
    const { session: sessionOver, call } = place(controller.signal);
    const awaitHold: GateScript["awaitHold"] = (_hold, { signal }) => {
      queueMicrotask(() => controller.abort());
      return untilAborted(signal);
    };
    const { session, events, tool } = await scripted({ check: [hold], awaitHold }, sessionOver);
    expect(await session.run(aSessionCall(call), tool)).toMatchObject({ decision: { reason: "aborted" } });
    expect(tool).not.toHaveBeenCalled();
    expect(listEvents(events)).toEqual(["plan_signed", "hold", "block:aborted"]);
  });

  test("just before it would be held: nobody is asked", async () => {
    const controller = new AbortController();
    const { session: sessionOver, call } = place(controller.signal);
    const abort: Answer = (asked) => {
      controller.abort();
      return hold(asked);
    };
    const { session, gate, events, tool } = await scripted({ check: [abort] }, sessionOver);
    expect(await session.run(aSessionCall(call), tool)).toMatchObject({ decision: { reason: "aborted" } });
    expect(gate.waits).toEqual([]);
    expect(listEvents(events)).toEqual(["plan_signed", "block:aborted"]);
  });

  test("while a gate that does not look at signals waits: an approval comes too late", async () => {
    const controller = new AbortController();
    const { session: sessionOver, call } = place(controller.signal);
    const awaitHold = () => {
      controller.abort();
      return APPROVED;
    };
    const { session, gate, tool } = await scripted({ check: [hold, allow], awaitHold }, sessionOver);
    expect(await session.run(aSessionCall(call), tool)).toMatchObject({ decision: { reason: "aborted" } });
    expect(tool).not.toHaveBeenCalled();
    expect(gate.outcomes).toMatchObject([{ status: "aborted" }]);
  });

  test("while the tool runs: the tool has started, and its result counts", async () => {
    const controller = new AbortController();
    const { session: sessionOver, call } = place(controller.signal);
    const { session, audit } = await aSession(sessionOver);
    const result = await session.run(aSessionCall(call), () => {
      controller.abort();
      return "sent";
    });
    expect(result).toMatchObject({ isError: false, content: "sent" });
    expect(listEntries(audit)).toEqual(["call-1:allow", "ok"]);
  });
});

describe("what an aborted call took", () => {
  const plan = planOf({ tool: "send_money", maxCalls: 1 });

  test("is given back if the tool never started", async () => {
    const controller = new AbortController();
    // The entry is written after the reservation, and before the gate answers.
    class AbortingSink extends MemoryAuditSink {
      override append(entries: readonly AuditEntry[]): void {
        super.append(entries);
        if (entries.some(({ event }) => event.type === "decision")) controller.abort();
      }
    }
    const audit = new AbortingSink();
    const { session } = await aSession({ plan, gate: new LocalGate({ policy: aPolicy(), audit }) });
    const aborted = await session.run(aSessionCall({ signal: controller.signal }), boom);
    expect(aborted).toMatchObject({ decision: { reason: "aborted" } });
    expect(await session.run(aSessionCall({ callId: "call-2" }), () => "sent")).toMatchObject({ isError: false });
    expect(listEntries(audit)).toEqual(["call-1:allow", "aborted", "call-2:allow", "ok"]);
  });

  test("stays taken if the tool threw because of the abort", async () => {
    const controller = new AbortController();
    const { session, audit } = await aSession({ plan });
    const aborted = await session.run(aSessionCall({ signal: controller.signal }), () => {
      controller.abort();
      return untilAborted(controller.signal);
    });
    expect(aborted).toMatchObject({ isError: true, decision: { verdict: "allow" } });
    const again = await session.run(aSessionCall({ callId: "call-2" }), boom);
    expect(again).toMatchObject({ decision: { reason: "call_limit" } });
    expect(listEntries(audit)).toEqual(["call-1:allow", "failed", "call-2:call_limit"]);
  });
});

describe("a call that is held", () => {
  test("is checked again with the approval, and runs", async () => {
    const { session, gate, events, tool } = await scripted({ check: [hold, allow], awaitHold: () => APPROVED });
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ isError: false, content: "sent" });
    expect(gate.checks.map(({ approval }) => approval)).toEqual([undefined, "approval-token"]);
    expect(gate.checks[1]?.args).toBe(gate.checks[0]?.args);
    expect(listEvents(events)).toEqual(["plan_signed", "hold", "approved", "allow"]);
    expect(gate.outcomes).toMatchObject([{ status: "ok" }]);
  });

  test.each<[string, GateScript, string, string[]]>([
    [
      "approved, and still held by a rule",
      { check: [hold, hold], awaitHold: () => APPROVED },
      "hold_rejected",
      ["hold", "approved", "block:hold_rejected"],
    ],
    [
      "approved, and the gate has no answer any more",
      { check: [hold, boom], awaitHold: () => APPROVED },
      "internal_error",
      ["hold", "approved", "error", "block:internal_error"],
    ],
    [
      "rejected",
      { check: [hold], awaitHold: () => ({ status: "rejected", comment: "of Bob alone" }) },
      "hold_rejected",
      ["hold", "rejected", "block:hold_rejected"],
    ],
    [
      "not decided in time",
      { check: [hold], awaitHold: () => ({ status: "timeout" }) },
      "hold_timeout",
      ["hold", "timeout", "block:hold_timeout"],
    ],
    [
      "and the wait fails",
      { check: [hold], awaitHold: boom },
      "internal_error",
      ["hold", "error", "block:internal_error"],
    ],
    ["and the wait gives nothing", { check: [hold] }, "internal_error", ["hold", "error", "block:internal_error"]],
    [
      "and the wait gives an unknown status",
      { check: [hold, allow], awaitHold: () => ({ status: "APPROVED", approval: "a" }) },
      "internal_error",
      ["hold", "block:internal_error"],
    ],
  ])("does not run: %s", async (_name, script, reason, told) => {
    const { session, events, tool } = await scripted(script);
    const result = await session.run(aSessionCall(), tool);
    expect(result).toMatchObject({ callId: "call-1", isError: true, decision: { verdict: "block", reason } });
    expect(result.content).not.toMatch("Bob");
    expect(tool).not.toHaveBeenCalled();
    expect(listEvents(events)).toEqual(["plan_signed", ...told]);
  });

  test("that the second check blocks has that block", async () => {
    const block: Answer = (call) =>
      allow({ ...call, refusal: { reason: "plan_revoked", stage: "gate", detail: "gone" } });
    const { session, tool } = await scripted({ check: [hold, block], awaitHold: () => APPROVED });
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ decision: { reason: "plan_revoked" } });
    expect(tool).not.toHaveBeenCalled();
  });

  test.each([
    ["the rule's time", {}, 60_000],
    ["the session's time, if that is shorter", { holdTimeoutMs: 1000 }, 1000],
    ["the rule's time, if that is shorter", { holdTimeoutMs: 3_600_000 }, 60_000],
  ])("waits for %s", async (_name, over, timeoutMs) => {
    const { session, gate, tool } = await scripted({ check: [hold], awaitHold: () => ({ status: "timeout" }) }, over);
    await session.run(aSessionCall(), tool);
    expect(gate.waits).toEqual([{ timeoutMs }]);
  });

  test("keeps its id: the same id with other content is invalid meanwhile", async () => {
    const { promise, resolve } = Promise.withResolvers<typeof APPROVED>();
    const { session, tool } = await scripted({
      check: [hold, allow],
      awaitHold: () => promise,
    });
    const held = session.run(aSessionCall(), tool);
    const other = vi.fn();
    expect(await session.run(aSessionCall({ args: {} }), other)).toMatchObject({
      decision: { reason: "invalid_call" },
    });
    resolve(APPROVED);
    await held;
    expect(other).not.toHaveBeenCalled();
  });

  test("does not keep others waiting", async () => {
    const { promise, resolve } = Promise.withResolvers<typeof APPROVED>();
    const order: string[] = [];
    const { session } = await scripted({
      check: [(call) => (call.callId === "held" && !call.approval ? hold(call) : allow(call))],
      awaitHold: () => promise,
    });
    const held = session.run(aSessionCall({ callId: "held" }), () => order.push("held"));
    await session.run(aSessionCall({ callId: "free" }), () => order.push("free"));
    resolve(APPROVED);
    await held;
    expect(order).toEqual(["free", "held"]);
  });
});

describe("events and outcomes", () => {
  test("come in order, with the decision", async () => {
    const { session, events } = await aSession();
    await session.run(aSessionCall(), () => events.push({ type: "error", message: "the tool runs", cause: undefined }));
    await session.run(aSessionCall({ callId: "call-2", tool: "other" }), boom);
    expect(listEvents(events)).toEqual(["plan_signed", "allow", "error", "block:unknown_tool"]);
    expect(events[1]).toMatchObject({ callId: "call-1", tool: "send_money", decision: { verdict: "allow" } });
    expect(events[3]).toMatchObject({ callId: "call-2", tool: "other", decision: { verdict: "block" } });
    for (const event of [events[1], events[3]]) expect(event?.planId).toBe(session.planId);
  });

  test.each<[string, () => unknown]>([
    ["throws", boom],
    ["rejects", async () => await Promise.reject(new Error("listener"))],
  ])("a listener that %s changes nothing", async (_name, onEvent) => {
    const { session } = await aSession({ onEvent: onEvent as () => void });
    expect(await session.run(aSessionCall(), () => "sent")).toMatchObject({ content: "sent" });
    expect(await session.run(aSessionCall({ tool: "other" }), boom)).toMatchObject({ isError: true });
  });

  test.each<[string, Partial<SessionOptions>]>([
    ["of the gate", {}],
    ["of the session, when the gate fails", { gate: new ScriptedGate({ check: [boom] }) }],
  ])("a listener cannot turn a block %s into an allow", async (_name, over) => {
    const { session } = await aSession({
      ...over,
      onEvent: ({ decision }) => {
        if (decision) Object.assign(decision, { verdict: "allow" });
      },
    });
    const tool = vi.fn();
    const result = await session.run(aSessionCall({ tool: "other" }), tool);
    expect(result).toMatchObject({ isError: true, decision: { verdict: "block" } });
    expect(tool).not.toHaveBeenCalled();
  });

  test("an outcome that cannot be recorded is told, and the tool has run all the same", async () => {
    const { session, events, tool } = await scripted({ record: boom });
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ isError: false, content: "sent" });
    expect(listEvents(events)).toEqual(["plan_signed", "allow", "error"]);
    expect(events[2]).toMatchObject({
      message: "The outcome of a call could not be recorded",
      cause: expect.any(Error),
    });
  });

  test("a tool's time is recorded", async () => {
    const { session, gate, tool } = await scripted({});
    await session.run(aSessionCall(), tool);
    expect(gate.outcomes).toEqual([
      { type: "outcome", planId: PLAN_ID, decisionSeq: 7, status: "ok", durationMs: expect.any(Number) },
    ]);
  });

  test("a gate that does not number its decisions gets no outcomes", async () => {
    const unnumbered = ({ callId, tool }: GateCall) => {
      const { seq: _, ...decision } = anAllow({ callId, tool });
      return decision;
    };
    const { session, gate, tool } = await scripted({ check: [unnumbered] });
    expect(await session.run(aSessionCall(), tool)).toMatchObject({ isError: false });
    expect(gate.outcomes).toEqual([]);
  });

  test("every call has exactly one decision on record", async () => {
    const { session, audit } = await aSession({
      plan: planOf({ tool: "send_money", args: { to: { eq: "landlord" } } }),
    });
    const calls = [
      aSessionCall({ callId: "fine" }),
      aSessionCall({ callId: "off-plan", args: { to: "attacker" } }),
      aSessionCall({ callId: "unknown", tool: "other" }),
      aSessionCall({ callId: "no-json", args: { to: 1n } }),
      aSessionCall({ callId: "aborted", signal: AbortSignal.abort() }),
      aSessionCall({ callId: "changed", fingerprint: "changed" }),
    ];
    await Promise.all(calls.map(async (call) => await session.run(call, () => "sent")));
    expect(listEntries(audit).toSorted()).toEqual([
      "aborted:aborted",
      "changed:tool_changed",
      "fine:allow",
      "no-json:invalid_call",
      "off-plan:not_in_plan",
      "ok",
      "unknown:unknown_tool",
    ]);
  });
});
