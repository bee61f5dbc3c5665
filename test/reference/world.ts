import type { Json, Plan, Policy, User } from "../../src/core/index.ts";

/** Everything that a decision rests on, but for the call. */
export interface World {
  readonly plan: Plan;
  readonly policy: Policy;
  readonly user: User;
  readonly task: string;
  /** Whether the plan was signed for this task. */
  readonly isSigned: boolean;
  /** What the calls gave that ran under a step, by its index. */
  readonly results: readonly { readonly step: number; readonly result: Json }[];
  /** Is told of each operator that was asked, and what it said. */
  readonly onOperator?: (operator: string, holds: boolean) => void;
}

export interface Asked {
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  /** The calls that each step has taken. */
  readonly used: readonly number[];
}
