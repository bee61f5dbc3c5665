import { emit } from "../../session/events.ts";
import { type Session, startSession } from "../../session/index.ts";
import { resumeWithSignedTools } from "../../session/resume-session.ts";
import { isClientTool, nameServerTool } from "./coverage.ts";
import { describeTools } from "./describe-tool.ts";
import type { RunIdentity } from "./identity.ts";
import type { IntentlockMiddlewareOptions } from "./middleware.ts";
import { type PlanningModel, planWithModel } from "./plan-with-model.ts";
import { isKnownServerTool } from "./server-tools.ts";

/** The session of a run whose plan is signed, for the user that it was signed for. */
export async function resumeRun(
  { gate, onEvent, onHold, holdTimeoutMs }: IntentlockMiddlewareOptions,
  { planId, user }: { readonly planId: string; readonly user: RunIdentity["user"] },
): Promise<Session> {
  return await resumeWithSignedTools({ gate, planId, user, onEvent, onHold, holdTimeoutMs });
}

/** From the task and the tools: what else the request holds is nothing that a plan is made of. */
export async function startRun(
  { gate, plannerModel, allowUngated = [], onEvent, onHold, holdTimeoutMs }: IntentlockMiddlewareOptions,
  request: { readonly identity: RunIdentity; readonly model: unknown; readonly tools: readonly unknown[] },
): Promise<Session> {
  const { identity, model, tools } = request;
  const hidden = tools.filter((tool) => !isClientTool(tool) && !isKnownServerTool(tool, allowUngated));
  if (hidden.length > 0) {
    const names = hidden.map(nameServerTool).join(", ");
    const message = `Tools that the model's provider runs are kept from the model: ${names}. Name them in allowUngated to do without a check of their calls.`;
    emit(onEvent, { type: "error", message, cause: undefined });
  }
  return await startSession({
    gate,
    onEvent,
    onHold,
    holdTimeoutMs,
    ...identity,
    tools: describeTools(tools),
    // LangChain hands the signal of this `invoke` on. The session goes on in the one that resumes it.
    planner: identity.plan ? undefined : planWithModel(plannerModel ?? (model as PlanningModel)),
  });
}
