import { IntentlockError, type Plan } from "../core/index.ts";
import type { Task, UserInput } from "../gates/gate.ts";
import { emit } from "./events.ts";
import { assertGate, assertSuspends, openSession, type RunningOptions, Trouble } from "./open-session.ts";
import { parsePlanForTools } from "./parse-plan-for-tools.ts";
import { makePlan, type Planner } from "./planner.ts";
import type { Session } from "./session.ts";
import { fingerprintTools, listOpenArguments } from "./session-tool.ts";
import { type TaskInput, toTask } from "./task.ts";

export interface SessionOptions extends RunningOptions {
  /** From the application's own authentication; never from anything that a client of the application sent. */
  readonly user: UserInput;
  readonly task: TaskInput;
  /** The plan, if the application knows it. */
  readonly plan?: Plan | undefined;
  /** Asks a model for the plan. One of `plan` and `planner` is needed. */
  readonly planner?: Planner | undefined;
  /** A person has to see the plan before it is signed. For gates with a server. */
  readonly approvePlan?: boolean | undefined;
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
  const { gate, user, signal } = options;
  assertGate(gate);
  assertSuspends(options);
  const task = toTask(options.task);
  // The tools as they are now, however long the planning takes.
  const tools = [...options.tools];
  const fingerprints = fingerprintTools(tools);
  const plan = await obtainPlan({ ...options, task, tools });
  const trouble = new Trouble(options.onEvent);
  const signed = await gate.sign({
    user,
    task,
    plan,
    tools: fingerprints,
    listener: trouble.listen,
    ...(options.approvePlan === true && { approvePlan: true }),
    ...(signal && { signal }),
  });
  trouble.planId = signed.planId;
  const openArguments = listOpenArguments(plan, tools);
  emit(options.onEvent, { type: "plan_signed", planId: signed.planId, plan, openArguments });
  return openSession(signed, fingerprints, { ...options, tools });
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
