import type { BlockReason, Call, Decision, HoldDecision, OutcomeStatus, Plan, Stage } from "../core/index.ts";

/** A person as an application names them. Roles (`admin`, `approver`, `member`) and groups count only for gates without a server. */
export type UserInput =
  | string
  | { readonly email: string; readonly roles?: readonly string[]; readonly groups?: readonly string[] };

/** What the user asked for. `material` is text that the user passed on and did not write: no plan is made from it. */
export interface Task {
  readonly instruction: string;
  readonly material?: string;
  /** Earlier messages of the same user in the same chat, oldest first. Never answers. */
  readonly earlier?: readonly string[];
}

export interface SignRequest {
  readonly user: UserInput;
  readonly task: Task;
  readonly plan: Plan;
  /** The fingerprint of every tool that there is, by its name. */
  readonly tools: Readonly<Record<string, string>>;
}

/** A plan with its signed token. Plain data: it can be stored, and is worth nothing without the gate's key. */
export interface SignedPlan {
  readonly planId: string;
  readonly plan: Plan;
  readonly token: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** A call on its way through a gate. */
export interface GateCall extends Call {
  /** A signed approval token, from a hold that a person approved. */
  readonly approval?: string;
  /** Set if the call is refused before the gate is asked: the gate answers so, whatever `check()` says, and records it. */
  readonly refusal?: { readonly reason: BlockReason; readonly stage: Stage; readonly detail: string };
}

/** What became of a call that was allowed, or of a plan. */
export type Outcome =
  | {
      readonly type: "outcome";
      readonly planId: string;
      /** `seq` of the decision that allowed the call. */
      readonly decisionSeq: number;
      /** `aborted` says that the tool never started: what the call took is given back. */
      readonly status: OutcomeStatus;
      readonly durationMs?: number;
    }
  /** No more calls. Outcomes of calls that were allowed before may still come. */
  | { readonly type: "closed"; readonly planId: string };

/** What became of a hold. */
export type HoldResolution =
  | { readonly status: "approved"; readonly approval: string; readonly approvedBy: string }
  | { readonly status: "rejected"; readonly comment?: string }
  | { readonly status: "timeout" };

/**
 * Signs plans and decides about calls. `check` and `peek` never reject: trouble of any kind is a block. The other
 * methods reject with an IntentlockError.
 */
export interface Gate {
  /** Signs a plan for a user and a task. */
  sign(request: SignRequest): Promise<SignedPlan>;
  /** A new token for the same plan, with the user and the policy as they are now. */
  refresh(plan: SignedPlan): Promise<SignedPlan>;
  /** Decides, reserves what an allowed call takes, and writes the audit entry, before it answers. */
  check(plan: SignedPlan, call: GateCall): Promise<Decision>;
  /** What `check` would say. Changes nothing and is not recorded. */
  peek(plan: SignedPlan, call: GateCall): Promise<Decision>;
  /** Waits for a person. */
  awaitHold(
    hold: HoldDecision,
    options: { readonly signal?: AbortSignal; readonly timeoutMs: number },
  ): Promise<HoldResolution>;
  /** Records what became of an allowed call, or that a plan is done. */
  record(outcome: Outcome): Promise<void>;
  /** Gives back what the gate holds. Plans that are still open are closed. */
  close(): Promise<void>;
}
