import { endpoints, type SignedPlanAnswer } from "../../core/api/index.ts";
import { IntentlockError, type PublicKey, parsePlan } from "../../core/index.ts";
import type { HoldResolution, SignRequest } from "../gate.ts";
import { toUser } from "../people.ts";
import { awaitHold } from "./await-hold.ts";
import { toGateError } from "./gate-error.ts";
import type { ServerClient } from "./server-client.ts";
import type { ServerClock } from "./server-clock.ts";

export interface RemoteSigner {
  readonly client: ServerClient;
  readonly clock: ServerClock;
  /** The longest wait for a person who has to see the plan. */
  readonly planTimeoutMs: number;
}

/**
 * Has a plan signed by the server, and waits for a person if the server wants one to see it.
 *
 * @param clientKey with which the client will sign its batches of audit entries
 * @throws PlanError; IntentlockError `ERR_UNKNOWN_USER`, `ERR_PLAN_REJECTED` if a person said no or nobody said anything;
 * ServerError; the reason of the request's signal
 */
export async function signPlan(
  { client, clock, planTimeoutMs }: RemoteSigner,
  request: SignRequest,
  clientKey?: PublicKey,
): Promise<SignedPlanAnswer> {
  const { task, tools, listener, signal, approvePlan = false } = request;
  const body = {
    user: toUser(request.user).email,
    task: copyTask(task),
    plan: parsePlan(request.plan, { tools: Object.keys(tools) }),
    tools,
    ...(clientKey && { clientKey }),
    ...(approvePlan && { approvePlan }),
  };
  try {
    // Not repeatable: a plan that was signed and not heard of would stay open.
    const answer = await clock.learn(() => client.ask(endpoints.signPlan, { body, signal }), listener);
    if (!("status" in answer)) return answer;
    const resolution = await awaitHold(client, answer.holdId, { signal, timeoutMs: planTimeoutMs });
    if (resolution.status !== "approved") throw notApproved(resolution);
    return await refreshPlan({ client, clock }, answer.planId, request);
  } catch (error) {
    signal?.throwIfAborted();
    throw toGateError(error);
  }
}

/**
 * Has a new token made for a plan.
 *
 * @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_PLAN_REVOKED`, `ERR_UNKNOWN_USER`,
 * `ERR_INVALID_CLAIMS` for an answer about another plan; ServerError; the signal's reason
 */
export async function refreshPlan(
  { client, clock }: Pick<RemoteSigner, "client" | "clock">,
  planId: string,
  { listener, signal }: Pick<SignRequest, "listener" | "signal">,
): Promise<SignedPlanAnswer> {
  try {
    const ask = { params: { planId }, signal, isRepeatable: true };
    const answer = await clock.learn(() => client.ask(endpoints.refreshPlan, ask), listener);
    assertAnswers(answer, planId);
    return answer;
  } catch (error) {
    signal?.throwIfAborted();
    throw toGateError(error);
  }
}

/**
 * The token of another plan may well be valid, and the calls of this one would be decided under it: whoever mixes up answers
 * would choose what a plan allows.
 *
 * @throws IntentlockError `ERR_INVALID_CLAIMS` unless an answer is about the plan that was asked for
 */
export function assertAnswers(answer: Pick<SignedPlanAnswer, "planId">, planId: string): void {
  if (answer.planId === planId) return;
  const message = "The server's answer is about another plan than the one that was asked for";
  throw new IntentlockError("ERR_INVALID_CLAIMS", message);
}

/** With what the person wrote, who was told that it would be read. */
function notApproved(resolution: Exclude<HoldResolution, { status: "approved" }>): IntentlockError {
  const words = {
    rejected: "A person looked at the plan and said no",
    timeout: "Nobody approved the plan in time",
    blocked: "Nobody could be asked about the plan",
  };
  const comment = resolution.status === "rejected" && resolution.comment ? `: ${resolution.comment}` : "";
  return new IntentlockError("ERR_PLAN_REJECTED", `${words[resolution.status]}${comment}`);
}

function copyTask({ instruction, material, earlier }: SignRequest["task"]): SignRequest["task"] {
  return { instruction, ...(material !== undefined && { material }), ...(earlier && { earlier }) };
}
