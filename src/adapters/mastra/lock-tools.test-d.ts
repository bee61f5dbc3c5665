import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Gate } from "../../gates/gate.ts";
import type { Session } from "../../session/index.ts";
import { intentlockAgent, lockTools } from "./index.ts";

declare const gate: Gate;
declare const session: Session;

const pay = createTool({
  id: "pay",
  description: "Pays",
  inputSchema: z.object({ to: z.string() }),
  outputSchema: z.object({ paid: z.number() }),
  execute: async () => ({ paid: 1 }),
});
const read = createTool({ id: "read", description: "Reads", execute: async () => "text" });

test("inputs, outputs and names stay", () => {
  const tools = { pay, read };
  expectTypeOf(lockTools(tools, { session })).toEqualTypeOf(tools);
  expectTypeOf(lockTools(tools, { gate }).pay).toEqualTypeOf(pay);
  // @ts-expect-error there is no such tool
  lockTools(tools, { gate }).remove;
});

test("a function that gives tools stays one", () => {
  const make = (_: { readonly web: boolean }) => ({ pay });
  expectTypeOf(lockTools(make, { gate })).toEqualTypeOf(make);
});

test("a lock has a session or a gate", () => {
  // @ts-expect-error neither
  lockTools({ pay }, {});
  // @ts-expect-error both: whose session it would be
  lockTools({ pay }, { gate, session });
});

test("an agent takes what is spread into it", () => {
  const config = { id: "a", name: "a", instructions: "i", model: "openai/gpt-5" } as const;
  const agent = new Agent({ ...config, tools: lockTools({ pay }, { gate }), ...intentlockAgent({ gate }) });
  expectTypeOf(agent).toExtend<Agent<"a">>();
  // @ts-expect-error a gate is needed
  intentlockAgent({});
});
