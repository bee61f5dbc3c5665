/**
 * The middleware for agents of `langchain`.
 *
 * @module
 */
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import type { Gate } from "../../gates/gate.ts";
import { emit } from "../../session/events.ts";
import type { OnHold, SessionListener } from "../../session/index.ts";
import { assertSuspends } from "../../session/open-session.ts";
import { AgentRuns, type RunKey } from "./agent-runs.ts";
import { isClientTool } from "./coverage.ts";
import { type Identify, nameUser, type RunIdentity, type RunRuntime, readContext, readIdentity } from "./identity.ts";
import { canInterrupt, cannotInterrupt } from "./interrupt-held.ts";
import { langchain } from "./langchain-core.ts";
import { createMiddleware } from "./load-langchain.ts";
import type { PlanningModel } from "./plan-with-model.ts";
import { runToolCall } from "./run-tool-call.ts";
import { isKnownServerTool, refuseExecuted } from "./server-tools.ts";
import { resumeRun, startRun } from "./start-run.ts";

export type { Identify, RunIdentity, RunRuntime } from "./identity.ts";
export type { HoldInterrupt } from "./interrupt-held.ts";

export interface IntentlockMiddlewareOptions {
  readonly gate: Gate;
  /** Where the identity of a run is, unless it is in `context.intentlock`. */
  readonly identify?: Identify | undefined;
  /** Another model for the plan alone. */
  readonly plannerModel?: PlanningModel | undefined;
  /** Tools that may stay without a check of their calls, by name: those that the model's provider runs. */
  readonly allowUngated?: readonly string[] | undefined;
  readonly onEvent?: SessionListener | undefined;
  /**
   * What becomes of a call that a person has to approve. `wait`, the default: it waits for them where it is. `suspend`: it
   * interrupts the run with a {@link HoldInterrupt}, and is checked again when the run is resumed. Needs a gate with a
   * server, and an agent with a checkpointer.
   */
  readonly onHold?: OnHold | undefined;
  /** The longest wait for a person, in milliseconds. Default: 300,000. */
  readonly holdTimeoutMs?: number | undefined;
}

/** What `invoke` takes as `context`, beside the application's own. */
export type IntentlockContext = z.ZodObject<{ intentlock: z.ZodCustom<RunIdentity, RunIdentity> }>;
type PrivateState = z.ZodObject<{
  _intentlockRun: z.ZodOptional<z.ZodString>;
  _intentlockPlan: z.ZodOptional<z.ZodString>;
}>;

/**
 * Plans each run of an agent, signs the plan, and checks every tool call of the run against it. Put it first: what comes
 * after it in the list is then inside the check.
 *
 * A run is one `invoke`, for the user and the task in `context.intentlock`: without them it ends before the model is asked.
 * The plan is made by the agent's model from the task and the tools, never from the thread. Tools that the model's provider
 * runs are kept from the model unless `allowUngated` names them, and so are tools that came after the plan.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for `onHold: "suspend"` with a gate that can ask nobody
 * @throws in a run, as the `cause` of what the run fails with: PlanError if there is no valid plan; IntentlockError
 * `ERR_INVALID_OPTIONS` without an identity, or without a checkpointer that `onHold: "suspend"` needs, `ERR_UNKNOWN_PLAN` for a run that is resumed where it is not known,
 * `ERR_UNGATED_TOOLS` if the provider ran a tool all the same
 *
 * @example
 * import { createAgent } from "langchain";
 * import { intentlockMiddleware } from "intentlock/langchain/middleware";
 *
 * const agent = createAgent({ model: "openai:gpt-5", tools: [], middleware: [intentlockMiddleware({ gate })] });
 * const context = { intentlock: { user: signedInUser.email, task } };
 * await agent.invoke({ messages: [{ role: "user", content: task }] }, { context });
 */
export function intentlockMiddleware(
  options: IntentlockMiddlewareOptions & { readonly identify: Identify },
): AgentMiddleware<PrivateState, undefined, unknown>;
export function intentlockMiddleware(
  options: IntentlockMiddlewareOptions,
): AgentMiddleware<PrivateState, IntentlockContext, z.infer<IntentlockContext>>;
export function intentlockMiddleware(
  options: IntentlockMiddlewareOptions,
): AgentMiddleware<PrivateState, IntentlockContext | undefined> {
  const { gate, allowUngated = [], onEvent, onHold } = options;
  assertSuspends({ gate, onHold });
  const identify = options.identify ?? readContext;
  const runs = new AgentRuns();
  // Where a run can go on in another process, its plan has to be known there. A field costs something with every call.
  const keepsPlan = gate.resume !== undefined;
  const keyOf = ({ state, runtime }: Step, { user }: RunIdentity): RunKey => {
    const planId = state._intentlockPlan;
    const resume = planId && keepsPlan ? async () => await resumeRun(options, { planId, user }) : undefined;
    return { id: state._intentlockRun, user: nameUser(user), thread: runtime.configurable?.["thread_id"], resume };
  };
  // What is missing is ours to say: the schema's own words say nothing of what to do.
  const context = z.object({ intentlock: z.unknown().optional() }) as unknown as IntentlockContext;
  const run = { _intentlockRun: z.string().optional() };
  const fields = keepsPlan ? { ...run, _intentlockPlan: z.string().optional() } : run;
  return createMiddleware({
    name: "Intentlock",
    stateSchema: z.object(fields) as PrivateState,
    ...(!options.identify && { contextSchema: context }),
    beforeAgent: async (_state, runtime: RunRuntime) => {
      // An application's own identify reads what is not told to this hook: it is asked before the first model call.
      if (!options.identify) await readIdentity(identify, runtime);
      if (onHold === "suspend" && !canInterrupt(langchain.AsyncLocalStorageProviderSingleton.getRunnableConfig())) {
        throw cannotInterrupt();
      }
      return { _intentlockRun: runs.begin(), ...(keepsPlan && { _intentlockPlan: "" }) };
    },
    wrapModelCall: async (request, handler) => {
      const identity = await readIdentity(identify, request.runtime);
      const session = await runs.open(
        keyOf(request, identity),
        async () => await startRun(options, { ...request, identity }),
      );
      const tools = request.tools.filter((tool) =>
        isClientTool(tool) ? session.tool(tool.name) !== undefined : isKnownServerTool(tool, allowUngated),
      );
      const message = await handler({ ...request, tools });
      refuseExecuted(message, allowUngated);
      return message;
    },
    ...(keepsPlan && {
      afterModel: async ({ _intentlockRun }: Step["state"]) => ({ _intentlockPlan: await runs.planOf(_intentlockRun) }),
    }),
    wrapToolCall: async (request, handler) => {
      const session = await runs.find(keyOf(request, await readIdentity(identify, request.runtime)));
      return await runToolCall(session, request, handler);
    },
    afterAgent: async (state) => {
      try {
        await runs.end(state._intentlockRun);
      } catch (cause) {
        // The run has done its work, and its result is the application's.
        emit(onEvent, { type: "error", message: "The session could not be closed", cause });
      }
    },
  }) as AgentMiddleware<PrivateState, IntentlockContext | undefined>;
}

interface Step {
  readonly state: { readonly _intentlockRun?: string | undefined; readonly _intentlockPlan?: string | undefined };
  readonly runtime: RunRuntime;
}
