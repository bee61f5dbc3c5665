/**
 * The middleware for agents of `langchain`.
 *
 * @module
 */
import type { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { IntentlockError } from "../../core/index.ts";
import type { Gate } from "../../gates/gate.ts";
import { emit } from "../../session/events.ts";
import { BlockedError, type Session, type SessionListener, startSession } from "../../session/index.ts";
import { AgentRuns } from "./agent-runs.ts";
import { isClientTool, nameServerTool } from "./coverage.ts";
import { describeTools } from "./describe-tool.ts";
import { type Identify, nameUser, type RunIdentity, type RunRuntime, readContext, readIdentity } from "./identity.ts";
import { createMiddleware } from "./load-langchain.ts";
import { lockTool, refuse, toErrorMessage } from "./lock-tool.ts";
import { type PlanningModel, planWithModel } from "./plan-with-model.ts";
import { refuseExecuted } from "./server-tools.ts";
import { setTripwire } from "./tripwire.ts";

export type { Identify, RunIdentity, RunRuntime } from "./identity.ts";

export interface IntentlockMiddlewareOptions {
  readonly gate: Gate;
  /** Where the identity of a run is, unless it is in `context.intentlock`. */
  readonly identify?: Identify | undefined;
  /** Another model for the plan alone. */
  readonly plannerModel?: PlanningModel | undefined;
  /** Tools that may stay without a check of their calls, by name: those that the model's provider runs. */
  readonly allowUngated?: readonly string[] | undefined;
  readonly onEvent?: SessionListener | undefined;
  /** The longest wait for a person, in milliseconds. Default: 300,000. */
  readonly holdTimeoutMs?: number | undefined;
}

/** What `invoke` takes as `context`, beside the application's own. */
export type IntentlockContext = z.ZodObject<{ intentlock: z.ZodCustom<RunIdentity, RunIdentity> }>;
type PrivateState = z.ZodObject<{ _intentlockRun: z.ZodOptional<z.ZodString> }>;

/**
 * Plans each run of an agent, signs the plan, and checks every tool call of the run against it. Put it first: what comes
 * after it in the list is then inside the check.
 *
 * A run is one `invoke`, for the user and the task in `context.intentlock`: without them it ends before the model is asked.
 * The plan is made by the agent's model from the task and the tools, never from the thread. Tools that the model's provider
 * runs are kept from the model unless `allowUngated` names them, and so are tools that came after the plan.
 *
 * @throws in a run, as the `cause` of what the run fails with: PlanError if there is no valid plan; IntentlockError
 * `ERR_INVALID_OPTIONS` without an identity, `ERR_UNGATED_TOOLS` if the provider ran a tool all the same
 *
 * @example
 * import { createAgent } from "langchain";
 * import { LocalGate } from "intentlock/gates";
 * import { intentlockMiddleware } from "intentlock/langchain/middleware";
 *
 * const gate = new LocalGate({ policy });
 * const agent = createAgent({ model, tools, middleware: [intentlockMiddleware({ gate })] });
 * await agent.invoke({ messages: [{ role: "user", content: task }] }, { context: { intentlock: { user, task } } });
 */
export function intentlockMiddleware(
  options: IntentlockMiddlewareOptions & { readonly identify: Identify },
): AgentMiddleware<PrivateState, undefined>;
export function intentlockMiddleware(
  options: IntentlockMiddlewareOptions,
): AgentMiddleware<PrivateState, IntentlockContext>;
export function intentlockMiddleware(
  options: IntentlockMiddlewareOptions,
): AgentMiddleware<PrivateState, IntentlockContext | undefined> {
  const { allowUngated = [] } = options;
  const identify = options.identify ?? readContext;
  const runs = new AgentRuns();
  const context = z.object({ intentlock: z.custom<RunIdentity>() });
  return createMiddleware({
    name: "Intentlock",
    stateSchema: z.object({ _intentlockRun: z.string().optional() }),
    ...(!options.identify && { contextSchema: context }),
    beforeAgent: (_state, runtime: RunRuntime) => {
      // An application's own identify reads what is not told to this hook: it is asked before the first model call.
      if (!options.identify) readIdentity(identify, runtime);
      return { _intentlockRun: runs.begin() };
    },
    wrapModelCall: async (request, handler) => {
      const identity = readIdentity(identify, request.runtime);
      const run = runs.open(request.state._intentlockRun, nameUser(identity.user), () => {
        tellHidden(request.tools, options);
        const model = options.plannerModel ?? (request.model as PlanningModel);
        return startSession({
          gate: options.gate,
          onEvent: options.onEvent,
          holdTimeoutMs: options.holdTimeoutMs,
          ...identity,
          tools: describeTools(request.tools),
          ...(!identity.plan && { planner: planWithModel(model) }),
        });
      });
      if (!run) throw notHere();
      const session = await run;
      const known = new Set(session.toolNames);
      const tools = request.tools.filter((tool) =>
        isClientTool(tool) ? known.has(tool.name) : allowUngated.includes(nameServerTool(tool)),
      );
      const message = await handler({ ...request, tools });
      refuseExecuted(message, allowUngated);
      return message;
    },
    wrapToolCall: async (request, handler) => {
      const { toolCall, tool, runtime } = request;
      try {
        const { user } = readIdentity(identify, runtime);
        const session = await runs.find(request.state._intentlockRun, nameUser(user));
        if (!session) throw notHere();
        if (!isClientTool(tool)) throw await refuseUnknown(session, toolCall);
        // What starts in place of the locked tool is stopped, whoever put it there.
        const { remove } = setTripwire();
        try {
          return await handler({ ...request, tool: lockTool(tool, session) as unknown as typeof tool });
        } finally {
          remove();
        }
      } catch (error) {
        if (isControl(error) || runtime.signal?.aborted) throw error;
        return toAnswer(toolCall, error);
      }
    },
    afterAgent: async (state) => {
      await runs.end(state._intentlockRun);
    },
  }) as AgentMiddleware<PrivateState, IntentlockContext | undefined>;
}

/** What the model is not offered, the application should know of. */
function tellHidden(tools: readonly unknown[], { allowUngated = [], onEvent }: IntentlockMiddlewareOptions): void {
  const hidden = tools.filter((tool) => !isClientTool(tool)).map(nameServerTool);
  const names = hidden.filter((name) => !allowUngated.includes(name));
  if (names.length === 0) return;
  const message = `Tools that the model's provider runs are kept from the model: ${names.join(", ")}. Name them in allowUngated to do without a check of their calls.`;
  emit(onEvent, { type: "error", message, cause: undefined });
}

function notHere(): IntentlockError {
  return new IntentlockError(
    "ERR_UNKNOWN_PLAN",
    "This process has no session of this run for this user: a run is resumed in the process, and for the user, that it began with",
  );
}

async function refuseUnknown(session: Session, { id, name, args }: ToolCall): Promise<unknown> {
  const refusal = { reason: "unknown_tool", detail: "the agent has no such tool" } as const;
  return await refuse({ name, session }, { input: { type: "tool_call", id, args }, ...refusal });
}

/** What LangGraph throws to steer a graph is no error of a tool. */
function isControl(error: unknown): boolean {
  return typeof error === "object" && error !== null && Reflect.get(error, "is_bubble_up") === true;
}

/** The model reads what went wrong, and the run goes on: what is thrown here would end it. */
function toAnswer(call: ToolCall, error: unknown): ToolMessage {
  return toErrorMessage(call, error instanceof BlockedError ? error.message : `${error}\n Please fix your mistakes.`);
}
