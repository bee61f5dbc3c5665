import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { aToolCall, DONE, scriptedModel, stepsOf } from "../../test/ai-sdk.ts";
import { aPolicy } from "../../test/builders.ts";
import { aGuard, aPlanningGuard, EXPLICIT, PAY_LANDLORD, READ, REQUEST } from "../../test/guards.ts";
import { allow, aSession, hold, listEntries, listEvents, ScriptedGate, untilAborted } from "../../test/sessions.ts";
import { LocalGate } from "../gates/index.ts";
import { defineTool } from "./define-tool.ts";
import type { GuardCall } from "./execute-call.ts";

const LANDLORD = { to: "landlord", amount: 20 };

function aCall(over: Partial<GuardCall> = {}): GuardCall {
  return { callId: "1", tool: "pay", args: LANDLORD, ...over };
}

describe("start", () => {
  test("signs the plan that it is given, and asks no model", async () => {
    const provider = scriptedModel(DONE);
    const { guard, events } = aGuard({ provider });
    const session = await guard.start(EXPLICIT);
    expect(session.plan).toEqual({ goal: EXPLICIT.goal, steps: EXPLICIT.steps });
    expect(listEvents(events)).toEqual(["plan_signed"]);
    expect(provider.doGenerateCalls).toEqual([]);
  });

  test("has the model make the plan otherwise", async () => {
    const provider = scriptedModel([aToolCall("declare_plan", stepsOf(PAY_LANDLORD))]);
    const { guard } = aPlanningGuard({ provider });
    expect((await guard.start(REQUEST)).plan.steps).toEqual([PAY_LANDLORD]);
  });
});

describe("execute", () => {
  test("gives one result per call, in their order", async () => {
    const { guard, runs, audit } = aGuard();
    const session = await guard.start(EXPLICIT);
    const calls = [
      aCall({ callId: "a" }),
      aCall({ callId: "b", args: { to: "eve" } }),
      aCall({ callId: "c", tool: "read", args: {} }),
      aCall({ callId: "d", tool: "fly", args: {} }),
      aCall({ callId: "e", args: { to: 1 } }),
    ];
    expect(await guard.execute(session, calls)).toEqual([
      { callId: "a", content: "paid landlord", isError: false },
      { callId: "b", content: expect.stringMatching(/^Blocked by Intentlock \(not_in_plan\)/), isError: true },
      { callId: "c", content: "the rent is 20", isError: false },
      { callId: "d", content: expect.stringMatching(/^Blocked by Intentlock \(unknown_tool\)/), isError: true },
      { callId: "e", content: expect.stringMatching(/^Blocked by Intentlock \(invalid_args\): to: /), isError: true },
    ]);
    expect(runs).toEqual([LANDLORD]);
    expect(new Set(listEntries(audit))).toEqual(
      new Set(["a:allow", "b:not_in_plan", "c:allow", "d:unknown_tool", "e:invalid_args", "ok"]),
    );
  });

  test("of no calls gives no results", async () => {
    const { guard } = aGuard();
    expect(await guard.execute(await guard.start(EXPLICIT), [])).toEqual([]);
  });

  test("runs what the schema makes of the arguments, which is what the plan is about", async () => {
    const { guard, runs } = aGuard();
    const step = { tool: "pay", args: { amount: { lte: 1 } } };
    const session = await guard.start({ ...EXPLICIT, steps: [step] });
    const [result] = await guard.execute(session, [aCall({ args: { to: "landlord", more: 1 } })]);
    expect([result?.isError, runs]).toEqual([false, [{ to: "landlord", amount: 1 }]]);
  });

  test("runs allowed calls at once", async () => {
    const arrived: string[] = [];
    let open = (): void => undefined;
    const both = new Promise<void>((resolve) => {
      open = resolve;
    });
    const meet = defineTool({
      name: "meet",
      description: "Waits for another",
      schema: z.object({}),
      impl: async (_, { callId }) => {
        if (arrived.push(callId) === 2) open();
        await both;
        return callId;
      },
    });
    const { guard } = aGuard({ add: [meet] });
    const session = await guard.start({ ...EXPLICIT, steps: [{ tool: "meet" }] });
    const calls = ["a", "b"].map((callId) => aCall({ callId, tool: "meet", args: {} }));
    expect((await guard.execute(session, calls)).map(({ content }) => content)).toEqual(["a", "b"]);
  });

  test("takes the JSON that the model wrote", async () => {
    const { guard, runs } = aGuard();
    const session = await guard.start(EXPLICIT);
    const calls = [aCall({ args: JSON.stringify(LANDLORD) }), aCall({ callId: "2", tool: "read", args: "" })];
    expect((await guard.execute(session, calls)).map(({ isError }) => isError)).toEqual([false, false]);
    expect(runs).toEqual([LANDLORD]);
  });

  test("writes what a tool returns as JSON", async () => {
    const list = defineTool({ name: "list", description: "", schema: z.object({}), impl: () => [{ id: 1 }] });
    const { guard } = aGuard({ add: [list] });
    const session = await guard.start({ ...EXPLICIT, steps: [{ tool: "list" }] });
    expect(await guard.execute(session, [aCall({ tool: "list", args: {} })])).toMatchObject([
      { content: '[{"id":1}]' },
    ]);
  });

  test("tells the model what a tool threw, and records it", async () => {
    const impl = (): never => {
      throw new Error("no such repo");
    };
    const broken = defineTool({ name: "broken", description: "", schema: z.object({}), impl });
    const { guard, audit } = aGuard({ add: [broken] });
    const session = await guard.start({ ...EXPLICIT, steps: [{ tool: "broken" }] });
    expect(await guard.execute(session, [aCall({ tool: "broken", args: {} })])).toEqual([
      { callId: "1", content: "Tool failed: no such repo", isError: true },
    ]);
    expect(listEntries(audit)).toEqual(["1:allow", "failed"]);
  });

  test("waits for people, while other calls run", async () => {
    const gate = new ScriptedGate({
      check: [(call) => (call.tool === "pay" && !call.approval ? hold(call) : allow(call))],
      awaitHold: async () => {
        await vi.waitFor(() => expect(gate.outcomes).toHaveLength(1), { timeout: 10_000 });
        return { status: "approved", approval: "a" };
      },
    });
    const { guard, runs, events } = aGuard({ gate });
    const session = await guard.start(EXPLICIT);
    const results = await guard.execute(session, [aCall(), aCall({ callId: "2", tool: "read", args: {} })]);
    expect(results.map(({ isError }) => isError)).toEqual([false, false]);
    expect(runs).toEqual([LANDLORD]);
    expect(listEvents(events)).toEqual(["plan_signed", "hold", "allow", "approved", "allow"]);
  });

  test("renews a token that has expired", async () => {
    let now = 1_800_000_000_000;
    const gate = new LocalGate({ policy: aPolicy(), planTtlSeconds: 60, clock: () => now });
    const { guard } = aGuard({ gate });
    const session = await guard.start(EXPLICIT);
    now += 3_600_000;
    expect(await guard.execute(session, [aCall()])).toMatchObject([{ isError: false }]);
    now += 86_400_000;
    expect(await guard.execute(session, [aCall()])).toMatchObject([
      { isError: true, content: expect.stringContaining("token_expired") },
    ]);
  });

  test("blocks what is asked of a session that is closed, or that its signal has ended", async () => {
    const { guard, runs } = aGuard();
    const controller = new AbortController();
    const session = await guard.start({ ...EXPLICIT, signal: controller.signal });
    controller.abort();
    const closed = await guard.start(EXPLICIT);
    await closed.close();
    for (const one of [session, closed]) {
      const [result] = await guard.execute(one, [aCall()]);
      expect(result?.content).toContain("aborted");
    }
    expect(runs).toEqual([]);
  });

  test("gives tools the signal that ends the session", async () => {
    const wait = defineTool({
      name: "wait",
      description: "",
      schema: z.object({}),
      impl: (_, { signal }) => untilAborted(signal),
    });
    const { guard } = aGuard({ add: [wait] });
    const controller = new AbortController();
    const session = await guard.start({ ...EXPLICIT, steps: [{ tool: "wait" }], signal: controller.signal });
    const waiting = guard.execute(session, [aCall({ tool: "wait", args: {} })]);
    controller.abort(new Error("enough"));
    expect((await waiting)[0]?.isError).toBe(true);
  });
});

describe("a session that is not of this guard", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["of startSession", async () => (await aSession()).session],
    ["of another guard", async () => await aGuard().guard.start(EXPLICIT)],
    ["none", async () => undefined],
    ["an id", async () => "plan-1"],
  ])("%s", async (_, make) => {
    const running = aGuard().guard.execute((await make()) as never, [aCall()]);
    await expect(running).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
  });
});

describe("hostile calls", () => {
  const throwing = {
    callId: "1",
    tool: "pay",
    get args(): never {
      throw new Error("of the getter");
    },
  };
  const nameless = {
    toString: () => {
      throw new Error("of the name");
    },
  };

  test.each<[string, unknown, string]>([
    ["named like a property of every object", aCall({ tool: "constructor" }), "unknown_tool"],
    ["named __proto__", aCall({ tool: "__proto__" }), "unknown_tool"],
    ["that declares another plan", aCall({ tool: "declare_plan", args: EXPLICIT }), "unknown_tool"],
    ["whose name is no text", aCall({ tool: nameless as never }), "unknown_tool"],
    ["whose id is no text", aCall({ callId: 1 as never }), "invalid_call"],
    ["with arguments that are no JSON", aCall({ args: '{"to":' }), "invalid_args"],
    ["with two values of one argument", aCall({ args: '{"to":"landlord","to":"eve"}' }), "invalid_args"],
    ["with a prototype in its arguments", aCall({ args: '{"to":"landlord","__proto__":{"amount":9}}' }), "runs"],
    ["with arguments that are a list", aCall({ args: [] }), "invalid_args"],
    ["with arguments that JSON does not have", aCall({ args: { to: "landlord", amount: 1n } }), "invalid_call"],
    ["that throws when it is read", throwing, "unknown_tool"],
    ["that is nothing", undefined, "unknown_tool"],
    ["that is null", null, "unknown_tool"],
  ])("%s", async (_, call, reason) => {
    const { guard, runs } = aGuard();
    const session = await guard.start(EXPLICIT);
    const results = await guard.execute(session, [call as GuardCall, aCall({ callId: "good" })]);
    expect(results).toHaveLength(2);
    expect(results[1]).toEqual({ callId: "good", content: "paid landlord", isError: false });
    if (reason === "runs") expect(runs[0]).toEqual({ to: "landlord", amount: 1 });
    else {
      expect(results[0]).toMatchObject({ isError: true, content: expect.stringContaining(`(${reason})`) });
      expect(runs).toEqual([LANDLORD]);
    }
  });

  test("are read once", async () => {
    let reads = 0;
    const call = {
      callId: "1",
      tool: "pay",
      get args() {
        return { to: reads++ === 0 ? "landlord" : "eve" };
      },
    };
    const { guard, runs } = aGuard();
    await guard.execute(await guard.start(EXPLICIT), [call]);
    expect([reads, runs]).toEqual([1, [{ to: "landlord", amount: 1 }]]);
  });

  test("two of one id and one content run once, and both have the result", async () => {
    const { guard, runs } = aGuard();
    const results = await guard.execute(await guard.start(EXPLICIT), [aCall(), aCall()]);
    expect(results.map(({ content }) => content)).toEqual(["paid landlord", "paid landlord"]);
    expect(runs).toHaveLength(1);
  });

  test("two of one id and different content do not both run", async () => {
    const { guard, runs } = aGuard();
    const session = await guard.start({ ...EXPLICIT, steps: [{ tool: "pay" }] });
    const results = await guard.execute(session, [aCall(), aCall({ args: { to: "eve" } })]);
    expect(results).toMatchObject([
      { isError: false },
      { isError: true, content: expect.stringContaining("invalid_call") },
    ]);
    expect(runs).toEqual([LANDLORD]);
  });

  test("an id that has had its result is that of a new call, which counts", async () => {
    const { guard, runs } = aGuard();
    const session = await guard.start({ ...EXPLICIT, steps: [PAY_LANDLORD, READ] });
    const results = [];
    for (let turn = 0; turn < 3; turn++) results.push(...(await guard.execute(session, [aCall()])));
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect(results[2]?.content).toContain("call_limit");
    expect(runs).toHaveLength(2);
  });

  test("are blocked when the gate fails", async () => {
    const gate = new ScriptedGate({ check: [() => Promise.reject(new Error("down"))] });
    const { guard, runs } = aGuard({ gate });
    const session = await guard.start(EXPLICIT);
    expect(await guard.execute(session, [aCall()])).toMatchObject([{ isError: true }]);
    expect(runs).toEqual([]);
  });

  test("are no list: that is the application's mistake", async () => {
    const { guard } = aGuard();
    const session = await guard.start(EXPLICIT);
    await expect(guard.execute(session, aCall() as never)).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
  });
});
