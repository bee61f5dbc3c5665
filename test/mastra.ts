import { Agent, type AgentConfig } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { createTool, type ToolAction } from "@mastra/core/tools";
import type { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { type IntentlockAgentOptions, intentlockAgent } from "../src/adapters/mastra/index.ts";
import type { RunIdentity } from "../src/adapters/mastra/runs.ts";
import type { PlanStep } from "../src/core/index.ts";
import { LocalGate, MemoryAuditSink } from "../src/gates/index.ts";
import type { SessionEvent } from "../src/session/index.ts";
import { DONE, type Reply, readResults, scriptedModel } from "./ai-sdk.ts";
import { ALICE, aPolicy } from "./builders.ts";
import { listEntries, planOf } from "./sessions.ts";

/** Every way to run an agent. */
export const WAYS = ["generate", "stream"] as const;
export type Way = (typeof WAYS)[number];

const nothing = (): undefined => undefined;
/** Mastra logs every refusal at length otherwise. */
export const SILENT = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  trackException: nothing,
} as never;

type PayTool = ToolAction<{ to?: string | undefined; amount?: number | undefined }, { paid: string | undefined }>;

/** A tool that takes `{ to?, amount? }`; `runs` are the arguments that reached it. */
export function aPayTool(id = "pay", over: object = {}): { readonly tool: PayTool; readonly runs: unknown[] } {
  const runs: unknown[] = [];
  const tool = createTool({
    id,
    description: "Pays somebody",
    inputSchema: z.object({ to: z.string().optional(), amount: z.number().optional() }),
    execute: async (args) => {
      runs.push(args);
      return { paid: args.to };
    },
    ...over,
  });
  return { tool: tool as PayTool, runs };
}

/** The request of a user: the task comes with its plan, unless it is told otherwise. */
export function aRequest(plan?: readonly PlanStep[], over: Partial<RunIdentity> = {}): RequestContext {
  const context = new RequestContext();
  context.set("intentlock", { user: ALICE, task: "Pay the rent", ...(plan && { plan: planOf(...plan) }), ...over });
  return context;
}

export interface LockedAgent {
  readonly agent: Agent;
  readonly model: MockLanguageModelV4;
  readonly gate: LocalGate;
  readonly events: SessionEvent[];
  /** The decisions and outcomes that are on record. */
  readonly entries: () => string[];
}

/** An agent that is locked by a gate that allows what is planned, and whose model says these replies. */
export function anAgent(
  replies: readonly Reply[],
  config: (gate: LocalGate) => Partial<AgentConfig>,
  options: Partial<IntentlockAgentOptions> = {},
): LockedAgent {
  const audit = new MemoryAuditSink();
  const gate = new LocalGate({ policy: aPolicy(), audit });
  const events: SessionEvent[] = [];
  const model = scriptedModel(...replies, DONE);
  const agent = new Agent({
    id: "agent",
    name: "agent",
    instructions: "You pay.",
    model: model as never,
    ...intentlockAgent({ gate, onEvent: (event) => events.push(event), ...options }),
    ...config(gate),
  } as AgentConfig);
  agent.__setLogger(SILENT);
  return { agent, model, gate, events, entries: () => listEntries(audit) };
}

export interface RunResult {
  readonly text: string | undefined;
  readonly error: unknown;
  readonly finishReason: string | undefined;
  readonly runId: string | undefined;
}

/** Runs an agent to its end, whatever comes. */
export async function runWith(way: Way, agent: Agent, options: object): Promise<RunResult> {
  try {
    return await read(way === "generate" ? await agent.generate("go", options) : await agent.stream("go", options));
  } catch (error) {
    return { text: undefined, error, finishReason: undefined, runId: undefined };
  }
}

type Output = Awaited<ReturnType<Agent["generate"]>> | Awaited<ReturnType<Agent["stream"]>>;

async function read(output: Output): Promise<RunResult> {
  if ("fullStream" in output) for await (const _part of output.fullStream);
  const [text, error, finishReason] = await Promise.all([output.text, output.error, output.finishReason]);
  return { text, error, finishReason, runId: output.runId };
}

/** What the model was last given as the result of a call, as one text. */
export function resultOf(model: MockLanguageModelV4, callId: string): string {
  const output = readResults(model)[callId] as { readonly value?: unknown } | undefined;
  return typeof output?.value === "string" ? output.value : JSON.stringify(output?.value ?? "");
}
