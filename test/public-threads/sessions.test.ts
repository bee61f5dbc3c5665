import { describe, expect, test, vi } from "vitest";
import { LocalGate, MemoryAuditSink } from "../../src/gates/index.ts";
import { aPlan, aPolicy, aRule } from "../builders.ts";
import { HoldingGate } from "../holding-gate.ts";
import { aSession, aSessionCall, listEntries } from "../sessions.ts";

// Threads about frameworks without an adapter: the shape of their failures, through the session that adapters share.

const PAID = () => "paid";

test.each<[string, unknown]>([
  ["a text", '{"to":"attacker"'],
  ["a text that would be JSON", '{"to":"attacker","amount":5000}'],
  ["a list", [{ to: "attacker" }]],
  ["null", null],
  ["nothing", undefined],
  ["a number", 7],
  ["an object with what JSON has not", { to: "attacker", amount: Number.NaN }],
])("openai-agents-js#1511: arguments that are %s are not taken for none", async (_name, args) => {
  // A rule that looks at the arguments, and that no empty object would meet.
  const rules = [
    aRule({ id: "large", match: { tool: "send_money", args: { amount: { gte: 100 } } }, decision: "block" }),
    aRule(),
  ];
  const audit = new MemoryAuditSink();
  const { session } = await aSession({ gate: new LocalGate({ policy: aPolicy(...rules), audit }) });
  const tool = vi.fn(PAID);
  expect(await session.run(aSessionCall({ args }), tool)).toMatchObject({ isError: true });
  expect(tool).not.toHaveBeenCalled();
  expect(listEntries(audit)).toEqual([expect.stringMatching(/^call-1:invalid_(?:args|call)$/)]);
});

describe("LibreChat#15933: one call id for several calls", () => {
  const to = (name: string) => aSessionCall({ args: { to: name } });

  test("at a time: one of them runs, and each has its own answer", async () => {
    const { session, audit } = await aSession();
    const tool = vi.fn(({ to }: { readonly to?: unknown }) => to);
    const results = await Promise.all(["landlord", "attacker", "plumber"].map((name) => session.run(to(name), tool)));
    expect(tool.mock.calls.map(([args]) => args)).toEqual([{ to: "landlord" }]);
    expect(results.map(({ isError }) => isError)).toEqual([false, true, true]);
    expect(listEntries(audit).toSorted()).toEqual(["call-1:allow", "call-1:invalid_call", "call-1:invalid_call", "ok"]);
  });

  test("one after the other: each counts, and none has the result of another", async () => {
    const { session } = await aSession({ plan: aPlan({ maxCalls: 2 }) });
    const tool = vi.fn(({ to }: { readonly to?: unknown }) => to);
    const read: unknown[] = [];
    for (const name of ["a", "b", "c"]) read.push((await session.run(to(name), tool)).content);
    expect(read).toEqual(["a", "b", expect.stringContaining("call_limit")]);
  });

  test("an approval of one is none of the other", async () => {
    const gate = new HoldingGate("send_money");
    const { session } = await aSession({ gate, onHold: "suspend" });
    const tool = vi.fn(({ to }: { readonly to?: unknown }) => to);
    for (const name of ["landlord", "attacker"]) await session.run(to(name), tool);
    gate.decide("approved", { tool: "send_money", args: { to: "landlord" } });
    for (const name of ["attacker", "landlord"]) await session.run(to(name), tool);
    expect(tool.mock.calls).toEqual([[{ to: "landlord" }]]);
  });
});

test.each([
  ["in one turn", 1],
  ["in eight turns", 8],
])("TanStack/ai#965: 160 calls %s run no more often than their step allows", async (_name, turns) => {
  const { session, audit } = await aSession({ plan: aPlan({ maxCalls: 20 }) });
  const tool = vi.fn(PAID);
  const size = 160 / turns;
  for (let turn = 0; turn < turns; turn++) {
    const ids = Array.from({ length: size }, (_, index) => `${turn}-${index}`);
    await Promise.all(ids.map((callId) => session.run(aSessionCall({ callId, args: { to: callId } }), tool)));
  }
  expect(tool).toHaveBeenCalledTimes(20);
  const refused = listEntries(audit).filter((entry) => entry.endsWith(":call_limit"));
  expect(refused).toHaveLength(140);
});

describe("extra-org/extra#139: an approval belongs to what was looked at, and to no place in a row", () => {
  const REVIEWED = { to: "reviewed" };
  const CHANGED = { to: "changed" };

  async function held() {
    const gate = new HoldingGate("send_money");
    const { session } = await aSession({ gate, onHold: "suspend" });
    const tool = vi.fn(PAID);
    const call = async (args: object, callId = "call-1") =>
      await session.run(aSessionCall({ callId, args, replayKey: "step-1" }), tool);
    return { gate, tool, call };
  }

  test("a step that is run again with other arguments is held again", async () => {
    const { gate, tool, call } = await held();
    await call(REVIEWED);
    gate.decide("approved");
    expect(await call(CHANGED)).toMatchObject({ isError: true, decision: { verdict: "hold" } });
    expect(tool).not.toHaveBeenCalled();
    // What was approved still is.
    await call(REVIEWED);
    expect(tool.mock.calls).toEqual([[REVIEWED]]);
  });

  test("calls that come back in another order keep their own answers", async () => {
    const { gate, tool, call } = await held();
    await call(REVIEWED, "first");
    await call(CHANGED, "second");
    gate.decide("approved", { tool: "send_money", args: REVIEWED });
    await call(CHANGED, "first");
    await call(REVIEWED, "second");
    expect(tool.mock.calls).toEqual([[REVIEWED]]);
  });

  test("it is good for one call", async () => {
    const { gate, tool, call } = await held();
    await call(REVIEWED);
    gate.decide("approved");
    await call(REVIEWED);
    expect(await call(REVIEWED, "again")).toMatchObject({ isError: true, decision: { verdict: "hold" } });
    expect(tool).toHaveBeenCalledTimes(1);
  });
});
