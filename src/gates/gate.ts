import type { BlockReason, Decision, GateCall, HoldDecision, Outcome, Plan, SignedPlan, Task } from "../core/index.ts";

// What travels to a server too is in core.
export type { GateCall, Outcome, SignedPlan, Task } from "../core/index.ts";

/** A person as an application names them. Roles (`admin`, `approver`, `member`) and groups count only for gates without a server. */
export type UserInput =
  | string
  | { readonly email: string; readonly roles?: readonly string[]; readonly groups?: readonly string[] };

export interface SignRequest {
  readonly user: UserInput;
  readonly task: Task;
  readonly plan: Plan;
  /** The fingerprint of every tool that there is, by its name. */
  readonly tools: Readonly<Record<string, string>>;
  /** A person has to see the plan before it is signed. Only with a server, which may want it whatever is asked. */
  readonly approvePlan?: boolean;
  /** Gives up waiting for a person. */
  readonly signal?: AbortSignal;
  /** Hears of trouble with this plan for as long as there is any. */
  readonly listener?: GateListener;
}

/** Trouble with a plan that does not stop the gate, or that is behind a block. */
export interface GateTrouble {
  /**
   * What is wrong, for programs: the `code` of the server's problem, of the error, or `clock_skew` for a clock that is
   * off from the server's.
   */
  readonly code: string;
  readonly message: string;
  readonly cause?: unknown;
}

export type GateListener = (trouble: GateTrouble) => void;

/** What became of a hold. `blocked`: nobody was asked, or the answer did not come, for this reason. */
export type HoldResolution =
  | { readonly status: "approved"; readonly approval: string; readonly approvedBy: string }
  | { readonly status: "rejected"; readonly comment?: string }
  | { readonly status: "timeout" }
  | { readonly status: "blocked"; readonly reason: BlockReason; readonly detail: string };

/** A person was asked about a held call, or will not be. */
export type OpenedHold =
  | {
      readonly status: "pending";
      readonly holdId: string;
      /** Seconds since the epoch. */
      readonly expiresAt: number;
    }
  | Exclude<HoldResolution, { readonly status: "timeout" }>;

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
  /** Asks a person and waits for them. @param hold the very decision that `check` gave */
  awaitHold(
    hold: HoldDecision,
    options: { readonly signal?: AbortSignal; readonly timeoutMs: number },
  ): Promise<HoldResolution>;
  /**
   * Asks a person and returns at once, for calls that are made again later, in a run that goes on. Absent where there is
   * nobody to ask.
   */
  openHold?(hold: HoldDecision): Promise<OpenedHold>;
  /**
   * A plan that was signed before, by this gate or another process of the same agent, with its counts and the holds that
   * wait. Absent where nothing is on record.
   */
  resume?(planId: string, options?: { readonly listener?: GateListener | undefined }): Promise<SignedPlan>;
  /** Records what became of an allowed call, or that a plan is done. */
  record(outcome: Outcome): Promise<void>;
  /** Gives back what the gate holds. Plans that are still open are closed, unless a call of theirs was suspended. */
  close(): Promise<void>;
}
