import { IntentlockError } from "../core/index.ts";
import type { UserInput } from "../gates/gate.ts";
import { assertGate, assertSuspends, openSession, type RunningOptions, Trouble } from "./open-session.ts";
import { assertPlanOf } from "./plan-user.ts";
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
 * const session = await resumeSession({ gate, planId, tools: sessionTools, onHold: "suspend" });
 */
export async function resumeSession(options: ResumeOptions): Promise<Session> {
  const { gate, planId } = options;
  assertGate(gate);
  assertSuspends(options);
  if (!gate.resume) {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "gate: one with a server is needed to go on with a session");
  }
  const tools = [...options.tools];
  const fingerprints = fingerprintTools(tools);
  const trouble = new Trouble(options.onEvent);
  trouble.planId = planId;
  const signed = await gate.resume(planId, { listener: trouble.listen });
  if (options.user !== undefined) assertPlanOf(options.user, signed);
  return openSession(signed, fingerprints, { ...options, tools });
}
