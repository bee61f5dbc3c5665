import type { AgentConfig } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import type { InputProcessor, ProcessInputStepArgs, ProcessInputStepResult } from "@mastra/core/processors";
import type { Gate } from "../../gates/gate.ts";
import {
  BlockedError,
  type OnHold,
  type Planner,
  type Session,
  type SessionListener,
  startSession,
} from "../../session/index.ts";
import { assertSuspends } from "../../session/open-session.ts";
import { assertCovered, assertNoNetwork, findGaps, gapOf } from "./coverage.ts";
import { type AnyTool, describeTools } from "./describe-tool.ts";
import { type HoldSuspension, wasHeld } from "./held-calls.ts";
import { lockModel } from "./lock-model.ts";
import { lockStepTool } from "./lock-step-tool.ts";
import { planWithModel } from "./plan-with-model.ts";
import { passHook } from "./run-call.ts";
import { type Context, type RunIdentity, runsOf } from "./runs.ts";
import { saysItResumes, type ToolContext } from "./tool-context.ts";

type Hooks = NonNullable<AgentConfig["hooks"]>;
type BeforeToolCall = NonNullable<Hooks["beforeToolCall"]>;

export interface IntentlockAgentOptions {
  readonly gate: Gate;
  /** Another model for the plan alone. */
  readonly plannerModel?: MastraModelConfig | undefined;
  /** Tools that may stay without a check of their calls, by name: those that the gate cannot see. */
  readonly allowUngated?: readonly string[] | undefined;
  /** The agent's own hooks, which come after ours. */
  readonly hooks?: Hooks | undefined;
  /** The agent's own input processors, which come before ours. */
  readonly inputProcessors?: readonly InputProcessor[] | undefined;
  readonly onEvent?: SessionListener | undefined;
  /**
   * What becomes of a call that a person has to approve. `wait`, the default: it waits for them in its `execute`.
   * `suspend`: Mastra suspends it with a {@link HoldSuspension}, and it is checked again when it is resumed. Needs a gate
   * with a server, and an agent in a `Mastra` with a storage.
   */
  readonly onHold?: OnHold | undefined;
  /** The longest wait for a person, in milliseconds. Default: 300,000. */
  readonly holdTimeoutMs?: number | undefined;
}

/** What to spread into `new Agent`. */
export interface IntentlockAgentConfig {
  readonly hooks: Hooks;
  readonly inputProcessors: InputProcessor[];
}

/**
 * Plans each run of an agent, signs the plan, and checks every tool call of the run against it: of tools that are assigned,
 * made for the run, given with it or added by a processor before ours, of agents and workflows as tools.
 *
 * A run is for the user and the task in its request context, under `intentlock`: without them it ends before the model is
 * asked. Take a new request context for each task. The plan is made by the agent's model from the task and the tools, never
 * from the thread or from memory.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for `onHold: "suspend"` with a gate that can ask nobody
 * @throws in a run: PlanError if there is no valid plan; IntentlockError `ERR_INVALID_OPTIONS` without an identity,
 * `ERR_UNGATED_TOOLS` for tools that the gate cannot see
 *
 * @example
 * import { Agent } from "@mastra/core/agent";
 * import { RequestContext } from "@mastra/core/request-context";
 * import { LocalGate } from "intentlock/gates";
 * import { intentlockAgent, lockTools } from "intentlock/mastra";
 *
 * const gate = new LocalGate({ policy });
 * const agent = new Agent({
 *   id: "helper",
 *   name: "Helper",
 *   instructions: "You help.",
 *   model: "openai/gpt-5",
 *   tools: lockTools(mastraTools, { gate }),
 *   ...intentlockAgent({ gate }),
 * });
 * const requestContext = new RequestContext();
 * requestContext.set("intentlock", { user: signedInUser.email, task });
 * await agent.generate(task, { requestContext });
 */
export function intentlockAgent(options: IntentlockAgentOptions): IntentlockAgentConfig {
  const { gate, hooks = {}, inputProcessors = [], onEvent, onHold, holdTimeoutMs } = options;
  assertSuspends({ gate, onHold });
  runsOf(gate).goOnWith({ onEvent, onHold, holdTimeoutMs });
  const processor: InputProcessor = {
    id: "intentlock",
    processInputStep: async (step) => await lockStep(step, options),
  };
  const beforeToolCall: BeforeToolCall = async (call) => {
    await refuseUnlocked(gate, call);
    return await hooks.beforeToolCall?.(call);
  };
  return { hooks: { ...hooks, beforeToolCall }, inputProcessors: [...inputProcessors, processor] };
}

/** Locks the tools of a step, whoever has put them there. */
async function lockStep(step: ProcessInputStepArgs, options: IntentlockAgentOptions): Promise<ProcessInputStepResult> {
  const { allowUngated = [] } = options;
  assertNoNetwork(step.messageList);
  const tools = (step.tools ?? {}) as Readonly<Record<string, AnyTool>>;
  const plan = planWithModel(options.plannerModel ?? (step.model as MastraModelConfig));
  const signal = step.abortSignal;
  const planner: Planner = async (request) => await plan({ ...request, ...(signal && { signal }) });
  const start = async (identity: RunIdentity): Promise<Session> => {
    assertCovered(findGaps(tools), allowUngated);
    const lockable = Object.fromEntries(Object.entries(tools).filter(([, tool]) => gapOf(tool) === undefined));
    return await startSession({
      gate: options.gate,
      ...identity,
      tools: await describeTools(lockable),
      ...(!identity.plan && { planner }),
      onEvent: options.onEvent,
      onHold: options.onHold,
      holdTimeoutMs: options.holdTimeoutMs,
    });
  };
  const context = step.requestContext as Context;
  const session = await runsOf(options.gate).open({ context, isFirstStep: step.stepNumber === 0, start });
  // Without a prototype: Mastra finds the tool `constructor` otherwise.
  const locked: Record<string, AnyTool> = Object.create(null);
  for (const [name, tool] of Object.entries(tools)) {
    // What came after the plan, and what the gate cannot see, is kept from the model.
    const isGap = gapOf(tool) !== undefined;
    const isKept = isGap ? allowUngated.includes(name) : session.tool(name) !== undefined;
    if (isKept) locked[name] = isGap ? tool : lockStepTool(name, tool, session);
  }
  return { tools: locked, model: lockModel(step.model, { session, tools: locked, allowUngated }) };
}

/** A tool that starts outside of our processor's lock is refused: the processors of one call can replace those of the agent. */
async function refuseUnlocked(gate: Gate, call: Parameters<BeforeToolCall>[0]): Promise<void> {
  const { toolName: tool, input: args } = call;
  const context = call.context as ToolContext | undefined;
  const runs = runsOf(gate);
  if (passHook(tool, args, runs.owns)) return;
  const session = await runs.find(context?.requestContext as Context | undefined);
  const callId = context?.toolCallId ?? context?.agent?.toolCallId ?? crypto.randomUUID();
  // In an agent that was made anew, a call goes on before any step of its model: the one lock there is that of lockTools.
  const isHeld = runs.hasResumed(session) || wasHeld(session, { name: tool, callId, runId: undefined, args });
  if (isHeld && saysItResumes(context) && runs.hasLocked(tool)) return;
  const detail = "Intentlock's processor has not locked it: give other processors and hooks to intentlockAgent";
  const result = await session.run(
    { callId, tool, args, refusal: { reason: "unknown_tool", detail } },
    () => undefined,
  );
  if (result.isError) throw new BlockedError(result.decision);
}
