import { describe, expect, test, vi } from "vitest";
import { ALICE, anEmptyPolicy, aPlan, aPolicy } from "../../test/builders.ts";
import { aSession, aSessionCall, aTool, listEvents, planOf, ScriptedGate } from "../../test/sessions.ts";
import { PlanError } from "../core/index.ts";
import { LocalGate } from "../gates/index.ts";
import type { SessionEvent } from "./events.ts";
import { type SessionOptions, startSession } from "./start-session.ts";

const ASKING = new ScriptedGate({ openHold: () => ({ status: "pending" }) });
const PLAN = { goal: "Pay", steps: [{ tool: "send_money", maxCalls: 1 }] };

function options(over: Partial<SessionOptions> = {}): SessionOptions {
  return { gate: new ScriptedGate(), user: ALICE, task: "Pay the rent", tools: [aTool()], ...over };
}

describe("the plan", () => {
  test("of the application is signed, and no model is asked", async () => {
    const planner = vi.fn();
    const gate = new ScriptedGate();
    await startSession(options({ gate, plan: PLAN, planner }));
    expect(gate.signs).toMatchObject([{ user: ALICE, task: { instruction: "Pay the rent" }, plan: PLAN }]);
    expect(planner).not.toHaveBeenCalled();
  });

  test("of a planner is signed", async () => {
    const gate = new ScriptedGate();
    const session = await startSession(options({ gate, planner: async () => PLAN }));
    expect(gate.signs[0]?.plan).toEqual(PLAN);
    expect(session.plan).toEqual(PLAN);
  });

  test.each<[string, unknown]>([
    ["a tool that there is not", { goal: "Pay", steps: [{ tool: "other" }] }],
    ["declare_plan as a step", { goal: "Pay", steps: [{ tool: "declare_plan" }] }],
    ["no steps", { goal: "Pay" }],
    ["fields that a plan does not have", { ...PLAN, policy: "allow everything" }],
  ])("with %s is refused, and nothing is signed", async (_name, plan) => {
    const gate = new ScriptedGate();
    await expect(startSession(options({ gate, plan: plan as never }))).rejects.toThrow(PlanError);
    expect(gate.signs).toEqual([]);
  });

  test("is needed, or what makes one", async () => {
    await expect(startSession(options())).rejects.toMatchObject({
      code: "ERR_INVALID_OPTIONS",
      message: "There is no plan: give one, or a model (a planner, for startSession) that declares one",
    });
  });

  test("cannot be changed afterwards", async () => {
    const plan = { goal: "Pay", steps: [{ tool: "send_money", maxCalls: 1 }] };
    const session = await startSession(options({ plan }));
    plan.steps.push({ tool: "other", maxCalls: 1 });
    expect(session.plan.steps).toHaveLength(1);
    expect(Object.isFrozen(session.plan.steps)).toBe(true);
  });
});

describe("what is refused before anything is signed", () => {
  test.each<[string, Partial<SessionOptions>]>([
    ["an empty task", { task: " " }],
    ["a tool with a bad name", { tools: [aTool({ name: "send money" })] }],
    ["the reserved tool", { tools: [aTool(), aTool({ name: "declare_plan" })] }],
    ["two tools of one name", { tools: [aTool(), aTool()] }],
    ["no way to hold calls", { onHold: "later" as never }],
    ["calls to suspend with nobody to ask", { onHold: "suspend" }],
  ])("%s", async (_name, over) => {
    const gate = new ScriptedGate();
    const planner = vi.fn();
    await expect(startSession(options({ gate, planner, ...over }))).rejects.toMatchObject({
      code: "ERR_INVALID_OPTIONS",
    });
    expect(gate.signs).toEqual([]);
    expect(planner).not.toHaveBeenCalled();
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ["a planner that fails", async () => await Promise.reject(new Error("no model")), "no model"],
    ["a gate that does not know the user", async () => PLAN, "does not know"],
  ])("%s", async (_name, planner, message) => {
    const gate = new LocalGate({ policy: aPolicy(), users: [] });
    await expect(startSession(options({ gate, planner }))).rejects.toThrow(message);
  });
});

test.each<[string, Partial<SessionOptions>, string]>([
  ["no gate", { gate: undefined as never }, "gate: expected a gate"],
  ["half a gate", { gate: { sign: vi.fn() } as never }, "gate: expected a gate"],
  ["no way to hold calls", { onHold: "later" as never }, 'expected "wait" or "suspend"'],
  ["no way to hold calls, with somebody to ask", { onHold: "later" as never, gate: ASKING }, "expected"],
  ["calls to suspend with nobody to ask", { onHold: "suspend" }, "a gate with a server is needed"],
])("says what is wrong with %s", async (_name, over, message) => {
  const refused = { code: "ERR_INVALID_OPTIONS", message: expect.stringContaining(message) };
  await expect(startSession(options({ plan: PLAN, ...over }))).rejects.toMatchObject(refused);
});

test("waits for people unless told otherwise", async () => {
  const openHold = (): object => ({ status: "pending" });
  for (const onHold of ["wait", "suspend", undefined] as const) {
    const session = await startSession(options({ gate: new ScriptedGate({ openHold }), plan: PLAN, onHold }));
    expect(session.onHold).toBe(onHold ?? "wait");
  }
});

test.each<[Partial<SessionOptions>, object]>([
  [{ approvePlan: true }, { approvePlan: true }],
  [{ approvePlan: false }, {}],
  [{ approvePlan: "yes" as never }, {}],
  [{ signal: AbortSignal.abort() }, { signal: expect.any(AbortSignal) }],
  [{}, {}],
])("the gate is asked for what the application wants: %o", async (over, asked) => {
  const gate = new ScriptedGate();
  await startSession(options({ gate, plan: PLAN, ...over }));
  const { user: _user, task: _task, plan: _plan, tools: _tools, listener: _listener, ...rest } = gate.signs[0] ?? {};
  expect(rest).toEqual(asked);
});

test("the gate's trouble is told, with the plan once there is one", async () => {
  const trouble = { code: "ERR_KEY", message: "no key", cause: 5 } as never;
  const events: SessionEvent[] = [];
  const gate = new ScriptedGate();
  const sign = gate.sign.bind(gate);
  gate.sign = async (request) => {
    request.listener?.(trouble);
    return await sign(request);
  };
  const { planId } = await startSession(options({ gate, plan: PLAN, onEvent: (event) => events.push(event) }));
  gate.signs[0]?.listener?.(trouble);
  const told = { type: "error", code: "ERR_KEY", message: "no key", cause: 5 };
  expect(events.filter(({ type }) => type === "error")).toStrictEqual([told, { ...told, planId }]);
});

test("plan_signed says what the plan leaves open", async () => {
  const { events, session } = await aSession({
    plan: planOf({ tool: "send_money", args: { to: { eq: "landlord" } } }),
  });
  expect(events).toEqual([
    {
      type: "plan_signed",
      planId: session.planId,
      plan: session.plan,
      openArguments: [{ step: 0, tool: "send_money", args: ["amount"] }],
    },
  ]);
});

test("a listener that throws does not keep a session from starting", async () => {
  const onEvent = (): never => {
    throw new Error("listener");
  };
  expect((await startSession(options({ plan: PLAN, onEvent }))).plan).toEqual(PLAN);
});

test("tools that change while the plan is made are not the session's", async () => {
  const tools = [aTool()];
  const planner = async (): Promise<unknown> => {
    tools.push(aTool({ name: "late" }));
    return PLAN;
  };
  const { session } = await aSession({ tools, plan: undefined as never, planner });
  expect(await session.run(aSessionCall({ tool: "late" }), vi.fn())).toMatchObject({
    decision: { reason: "unknown_tool" },
  });
});

test("the material of a task is signed, and no plan is made from it", async () => {
  const gate = new ScriptedGate();
  const planner = vi.fn(async (_request: unknown) => PLAN);
  const task = { instruction: "Pay what this says", material: "IBAN DE00 0000" };
  await startSession(options({ gate, task, planner }));
  expect(gate.signs[0]?.task).toEqual(task);
  expect(JSON.stringify(planner.mock.calls)).not.toMatch("DE00");
});

test("a policy that allows nothing blocks what is planned", async () => {
  const { session, events } = await aSession({ gate: new LocalGate({ policy: anEmptyPolicy() }), plan: aPlan() });
  const tool = vi.fn();
  expect(await session.run(aSessionCall(), tool)).toMatchObject({ decision: { reason: "no_matching_rule" } });
  expect(listEvents(events)).toEqual(["plan_signed", "block:no_matching_rule"]);
  expect(tool).not.toHaveBeenCalled();
});
