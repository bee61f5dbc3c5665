import { IntentlockError, type Plan } from "../core/index.ts";
import type { Gate, GateListener, Task, UserInput } from "../gates/gate.ts";
import { emit, type SessionListener } from "./events.ts";
import { parsePlanForTools } from "./parse-plan-for-tools.ts";
import { makePlan, type Planner } from "./planner.ts";
import { Session } from "./session.ts";
import { fingerprintTools, listOpenArguments, type SessionTool } from "./session-tool.ts";
import { type TaskInput, toTask } from "./task.ts";

export interface SessionOptions {
  readonly gate: Gate;
  /** From the application's own authentication; never from anything that a client of the application sent. */
  readonly user: UserInput;
  readonly task: TaskInput;
  /** Every tool that the agent has. */
  readonly tools: readonly SessionTool[];
  /** The plan, if the application knows it. */
  readonly plan?: Plan | undefined;
  /** Asks a model for the plan. One of `plan` and `planner` is needed. */
  readonly planner?: Planner | undefined;
  /** A person has to see the plan before it is signed. For gates with a server. */
  readonly approvePlan?: boolean | undefined;
  readonly onEvent?: SessionListener | undefined;
  /** The longest wait for a person, in milliseconds. Default: 300,000. */
  readonly holdTimeoutMs?: number | undefined;
  /** Ends the session: calls that have not started are blocked as `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Plans, signs, and gives the session in which the agent's calls are checked.
 *
 * @throws PlanError if the plan is not valid; IntentlockError `ERR_INVALID_OPTIONS`, and what `gate.sign` throws; what
 * the planner throws
 *
 * @example
 * import { startSession } from "intentlock";
 *
 * const session = await startSession({ gate, user: signedInUser, task, tools: sessionTools, plan });
 * const result = await session.run({ callId: "1", tool: "read_page", args: { url: "https://acme.dev" } }, readPage);
 * console.log(result.isError ? `blocked or failed: ${result.content}` : result.content);
 */
export async function startSession(options: SessionOptions): Promise<Session> {
  const { gate, user, onEvent, signal } = options;
  if (typeof gate?.check !== "function") {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "gate: expected a gate, like new LocalGate({ policy })");
  }
  const task = toTask(options.task);
  // The tools as they are now, however long the planning takes.
  const tools = [...options.tools];
  const fingerprints = fingerprintTools(tools);
  const plan = await obtainPlan({ ...options, task, tools });
  let planId: string | undefined;
  const listener: GateListener = ({ code, message, cause }) =>
    emit(onEvent, { type: "error", ...(planId !== undefined && { planId }), code, message, cause });
  const isHeld = options.approvePlan === true;
  const signed = await gate.sign({
    user,
    task,
    plan,
    tools: fingerprints,
    listener,
    ...(isHeld && { approvePlan: true }),
    ...(signal && { signal }),
  });
  planId = signed.planId;
  emit(onEvent, { type: "plan_signed", planId: signed.planId, plan, openArguments: listOpenArguments(plan, tools) });
  return new Session({
    gate,
    signed,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    fingerprints,
    holdTimeoutMs: options.holdTimeoutMs ?? 300_000,
    onEvent,
    signal,
  });
}

async function obtainPlan({
  plan,
  planner,
  task,
  tools,
  signal,
}: SessionOptions & { readonly task: Task }): Promise<Plan> {
  if (plan) return parsePlanForTools(plan, tools);
  if (planner) return await makePlan(planner, { task, tools, signal });
  throw new IntentlockError(
    "ERR_INVALID_OPTIONS",
    "There is no plan: give one, or a model (a planner, for startSession) that declares one",
  );
}
