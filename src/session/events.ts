import type { AllowDecision, BlockDecision, Decision, HoldDecision, Plan } from "../core/index.ts";
import type { OpenArguments } from "./session-tool.ts";

/** What every event has; `tool`, `callId`, `reason` and `decision` where there is one. */
interface EventBase {
  readonly planId?: string;
  readonly callId?: string;
  readonly tool?: string;
  readonly reason?: string;
  readonly decision?: Decision;
}

interface CallEvent<Type extends string, D extends Decision> extends EventBase {
  readonly type: Type;
  readonly planId: string;
  readonly callId: string;
  readonly tool: string;
  readonly decision: D;
}

/** What a session tells its listener. */
export type SessionEvent =
  | (EventBase & {
      readonly type: "plan_signed";
      readonly planId: string;
      readonly plan: Plan;
      /** The arguments of tools that may change something, and that the plan leaves open. */
      readonly openArguments: readonly OpenArguments[];
    })
  | CallEvent<"allow", AllowDecision>
  | (CallEvent<"block", BlockDecision> & { readonly reason: string })
  | CallEvent<"hold" | "approved" | "rejected" | "timeout", HoldDecision>
  | (EventBase & {
      readonly type: "error";
      readonly message: string;
      readonly cause: unknown;
      /** From the gate: the code of the server's problem or of an error, or `clock_skew`. */
      readonly code?: string;
    });

export type SessionListener = (event: SessionEvent) => void;

/** Tells a listener, whose trouble is its own. */
export function emit(listener: SessionListener | undefined, event: SessionEvent): void {
  try {
    const answer: unknown = listener?.(Object.freeze(event));
    // An async listener is not what the type asks for, and must not end the process all the same.
    if (answer instanceof Promise) answer.catch(() => undefined);
  } catch {
    // Swallowed: a decision does not depend on who listens.
  }
}
