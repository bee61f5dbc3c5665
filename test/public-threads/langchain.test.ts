import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, humanInTheLoopMiddleware, toolRetryMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { intentlockMiddleware } from "../../src/adapters/langchain/middleware.ts";
import type { PlanStep } from "../../src/core/index.ts";
import { LocalGate, MemoryAuditSink } from "../../src/gates/index.ts";
import { ALICE, aPolicy } from "../builders.ts";
import { aTestCall, aTestTool } from "../framework-conformance/describe-framework.ts";
import type { TestCall } from "../framework-conformance/framework.ts";
import { toTools } from "../framework-conformance/langchain-run.ts";
import { HoldingGate } from "../holding-gate.ts";
import { listResults, type Reply, ScriptedChatModel } from "../langchain.ts";
import { listEntries, planOf } from "../sessions.ts";

const SCHEMA = z.object({ to: z.string() });
const say = (...calls: readonly Partial<TestCall>[]): Reply =>
  calls.map((over) => aTestCall(over)).map(({ id, tool: name, args }) => ({ id, name, args }));
const TO_LANDLORD = { args: { to: "landlord" } };

interface Setup {
  readonly replies: readonly Reply[];
  readonly steps?: readonly PlanStep[];
  /** Middleware of others, and whether it comes before ours. */
  readonly others?: readonly unknown[];
  readonly isOutside?: boolean;
}

/** An agent that may pay and read, and that could delete everything; a person approves each payment if `isHeld`. */
function anAgent(isHeld: boolean, { replies, steps, others = [], isOutside = false }: Setup) {
  const audit = new MemoryAuditSink();
  const gate = isHeld ? new HoldingGate("pay") : new LocalGate({ policy: aPolicy(), audit });
  const [pay, read, remove] = ["pay", "read", "delete_all"].map((name) => aTestTool({ name, schema: SCHEMA }));
  if (!pay || !read || !remove) throw new Error("No tools");
  const model = new ScriptedChatModel(replies);
  const ours = intentlockMiddleware({ gate, ...(isHeld && { onHold: "suspend" }) });
  const agent = createAgent({
    model,
    tools: toTools([pay, read, remove]),
    middleware: (isOutside ? [...others, ours] : [ours, ...others]) as never,
    checkpointer: new MemorySaver(),
  });
  const plan = planOf(...(steps ?? [{ tool: "pay" }, { tool: "read" }]));
  const options = {
    configurable: { thread_id: "1" },
    context: { intentlock: { user: ALICE, task: "Pay the rent", plan } },
  };
  const invoke = async (input: unknown): Promise<{ readonly __interrupt__?: readonly { readonly id: string }[] }> =>
    (await agent.invoke(input as never, options as never)) as never;
  return {
    gate: gate as HoldingGate,
    runs: { pay: pay.runs, read: read.runs, remove: remove.runs },
    entries: () => listEntries(audit),
    begin: async () => await invoke({ messages: [new HumanMessage("go")] }),
    resume: async (answer: unknown = true) => await invoke(new Command({ resume: answer })),
    results: () => listResults(model).map(({ tool_call_id: id, text }) => ({ id, text })),
    model,
  };
}

describe("a person says no to one call of a step", () => {
  const calls = say({ ...TO_LANDLORD }, { id: "call-2", tool: "read", args: { to: "page" } });

  test("langchainjs#11125: the call beside it has run, and every call has its one answer", async () => {
    const { gate, runs, begin, resume, results } = anAgent(true, { replies: [calls, "done"] });
    await begin();
    gate.decide("rejected");
    await resume();
    expect([runs.pay, runs.read]).toEqual([[], [{ to: "page" }]]);
    expect(
      results()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(["call-1", "call-2"]);
    expect(results().find(({ id }) => id === "call-1")?.text).toContain("hold_rejected");
  });

  test("langchainjs#10090: approved and rejected in one step, no call is left without its answer", async () => {
    const replies = [say(TO_LANDLORD, { id: "call-2", args: { to: "attacker" } }), "done"];
    const { gate, runs, begin, resume, results } = anAgent(true, { replies });
    const { __interrupt__: pending = [] } = await begin();
    expect(pending).toHaveLength(2);
    gate.decide("approved", { tool: "pay", args: { to: "landlord" } });
    gate.decide("rejected");
    await resume(Object.fromEntries(pending.map(({ id }) => [id, true])));
    expect(runs.pay).toEqual([{ to: "landlord" }]);
    expect(results().map(({ id, text }) => [id, text.includes("hold_rejected")])).toEqual([
      ["call-1", false],
      ["call-2", true],
    ]);
  });

  test("langchain#40491: a middleware that jumps to the tools does not run what was rejected", async () => {
    let jumps = 0;
    const jumping = createMiddleware({
      name: "Jumping",
      beforeModel: {
        canJumpTo: ["tools"],
        hook: ({ messages }) => {
          const last = messages.at(-1);
          // Once more from the message with the calls, after they were answered.
          if (last?.getType() !== "tool" || jumps++ > 0) return undefined;
          const asked = messages.findLast((message) => AIMessage.isInstance(message));
          return { jumpTo: "tools", messages: [new AIMessage({ content: "", tool_calls: asked?.tool_calls ?? [] })] };
        },
      },
    });
    const replies = [say(TO_LANDLORD), "done"];
    const { gate, runs, begin, resume, results } = anAgent(true, { replies, others: [jumping] });
    await begin();
    gate.decide("rejected");
    await resume();
    expect(jumps).toBeGreaterThan(0);
    expect(runs.pay).toEqual([]);
    expect(results().at(-1)?.text).toContain("hold_rejected");
    expect(gate.opened).toHaveLength(1);
  });
});

test("deepagents#2946: a model that asks again for what was rejected asks nobody again", async () => {
  const again = Array.from({ length: 6 }, (_, index) => say({ id: `call-${index}`, ...TO_LANDLORD }));
  const { gate, runs, begin, resume, results } = anAgent(true, { replies: [...again, "done"] });
  await begin();
  gate.decide("rejected");
  // Goes on by itself from here.
  expect((await resume()).__interrupt__).toBeUndefined();
  expect(runs.pay).toEqual([]);
  expect(gate.opened).toHaveLength(1);
  expect(results().filter(({ text }) => text.includes("hold_rejected"))).toHaveLength(6);
});

describe.each([
  ["before", true],
  ["behind", false],
])("a middleware %s ours", (_name, isOutside) => {
  test("langchainjs#11154: a malformed call is an answer that the model reads, and no end of the run", async () => {
    const others = [
      createMiddleware({ name: "Other", wrapToolCall: async (request, handler) => await handler(request) }),
    ];
    const replies = [say({ args: { to: 7 } }), say({ id: "call-2", ...TO_LANDLORD }), "done"];
    const { runs, begin, results, entries } = anAgent(false, { replies, others, isOutside });
    await begin();
    expect(runs.pay).toEqual([{ to: "landlord" }]);
    expect(results().map(({ id }) => id)).toEqual(["call-1", "call-2"]);
    expect(entries()).toEqual(["call-1:invalid_args", "call-2:allow", "ok"]);
  });

  test.each<[string, object, { readonly pay: unknown[]; readonly remove: unknown[] }]>([
    ["another tool", { name: "delete_all", args: { to: "x" } }, { pay: [], remove: [] }],
    ["other arguments", { name: "pay", args: { to: "attacker" } }, { pay: [], remove: [] }],
    ["what the plan allows", { name: "pay", args: { to: "plumber" } }, { pay: [{ to: "plumber" }], remove: [] }],
  ])(
    "langchain#40166: a call that somebody edits into %s is checked as what it has become",
    async (_case, editedAction, expected) => {
      const allowedDecisions = ["approve", "edit", "reject"];
      const others = [humanInTheLoopMiddleware({ interruptOn: { pay: { allowedDecisions } } } as never)];
      const steps = [{ tool: "pay", args: { to: { in: ["landlord", "plumber"] } } }] satisfies readonly PlanStep[];
      const { runs, begin, resume } = anAgent(false, { replies: [say(TO_LANDLORD), "done"], steps, others, isOutside });
      expect((await begin()).__interrupt__).toHaveLength(1);
      await resume({ decisions: [{ type: "edit", editedAction }] });
      expect(runs).toMatchObject(expected);
    },
  );

  test.each(["continue", "error"] as const)(
    "langchain#38722: a retry that ends in %s does not run a call that waits, and asks nobody twice",
    async (onFailure) => {
      const others = [toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 0, jitter: false, onFailure })];
      const { gate, runs, begin, resume } = anAgent(true, { replies: [say(TO_LANDLORD), "done"], others, isOutside });
      const begun = begin();
      // Outside of ours, it takes the interrupt for a failure: the call does not wait, and does not run.
      if (isOutside) await begun.catch(() => undefined);
      else expect((await begun).__interrupt__).toHaveLength(1);
      expect(runs.pay).toEqual([]);
      expect(gate.opened).toHaveLength(1);
      if (isOutside) return;
      expect((await resume()).__interrupt__).toHaveLength(1);
      gate.decide("approved");
      await resume();
      expect(runs.pay).toEqual([{ to: "landlord" }]);
    },
  );
});
