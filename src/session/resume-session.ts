import { IntentlockError, normalizeEmail } from "../core/index.ts";
import type { SignedPlan, UserInput } from "../gates/gate.ts";
import { assertGate, assertSuspends, openSession, type RunningOptions, Trouble } from "./open-session.ts";
import { readTokenClaims } from "./plan-token-claims.ts";
import type { Session } from "./session.ts";
import { fingerprintTools } from "./session-tool.ts";

export interface ResumeOptions extends RunningOptions {
  /** Of the session that goes on, as `session.planId` had it. */
  readonly planId: string;
  /** Whose plan it has to be, from the application's own authentication. A plan of somebody else is refused. */
  readonly user?: UserInput | undefined;
}

/**
 * Goes on with a session in another process, or after a restart: under the same signed plan, with the calls counted that
 * the gate has on record. Nothing of it comes from messages: what a client sends back proves nothing.
 *
 * Give the person who asks as `user`, or check that the plan is theirs before you call it: keep `session.planId` with their
 * chat.
 *
 * @throws IntentlockError `ERR_UNKNOWN_PLAN`, also for a plan of another user; `ERR_PLAN_EXPIRED`, `ERR_PLAN_REVOKED`, `ERR_PLAN_HELD` if another process
 * works on it, `ERR_INVALID_OPTIONS` for a gate that has nothing on record; what `gate.resume` throws
 *
 * @example
 * import { resumeSession } from "intentlock";
 *
 * // With the id that the chat's first request had as session.planId.
 * const goOn = async (planId: string) => {
 *   const user = signedInUser.email;
 *   return await resumeSession({ gate, planId, user, tools: sessionTools, onHold: "suspend" });
 * };
 */
export async function resumeSession(options: ResumeOptions): Promise<Session> {
  const tools = [...options.tools];
  const fingerprints = fingerprintTools(tools);
  const signed = await resumePlan(options);
  return openSession(signed, fingerprints, { ...options, tools });
}

/**
 * {@link resumeSession} for adapters that do not have all tools at hand where a run goes on: under the names that were
 * signed. Their calls have to come parsed, each with the fingerprint of the tool that would run.
 */
export async function resumeWithSignedTools(options: Omit<ResumeOptions, "tools">): Promise<Session> {
  const signed = await resumePlan(options);
  const fingerprints = readTokenClaims(signed.token).tools;
  const tools = Object.keys(fingerprints).map((name) => ({ name, inputSchema: {} }));
  return openSession(signed, fingerprints, { ...options, tools });
}

async function resumePlan(options: Omit<ResumeOptions, "tools">): Promise<SignedPlan> {
  const { gate, planId, user } = options;
  assertGate(gate);
  assertSuspends(options);
  if (!gate.resume) {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "gate: one with a server is needed to go on with a session");
  }
  const trouble = new Trouble(options.onEvent);
  trouble.planId = planId;
  const signed = await gate.resume(planId, { listener: trouble.listen });
  if (user !== undefined) assertPlanOf(user, signed);
  return signed;
}

/** Which plan goes on is often what a client says. Whose plan it is, and that there is one, is nothing to tell. */
function assertPlanOf(user: UserInput, { token }: SignedPlan): void {
  const email = normalizeEmail(typeof user === "string" ? user : user.email);
  if (email !== undefined && email === readTokenClaims(token).user) return;
  throw new IntentlockError("ERR_UNKNOWN_PLAN", "There is no such plan of this user");
}
