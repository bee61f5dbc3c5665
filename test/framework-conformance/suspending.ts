import type { Plan } from "../../src/core/index.ts";
import type { Gate } from "../../src/gates/index.ts";
import type { AgentResult, LockOptions, Mode } from "./framework.ts";

/** A run that has ended, or that waits. */
export interface SuspendedResult extends AgentResult {
  /** The names of the tools whose calls wait for a person, as the framework tells its application. */
  readonly pending: readonly string[];
}

export interface GoingOn {
  /** What a client says that the person has said. */
  readonly says: boolean;
  /** Whether another process goes on, which knows what the framework and the application have stored. */
  readonly elsewhere?: boolean;
  /** Who is signed in; the one that the run began with unless told. */
  readonly user?: string;
}

/** One run of an agent whose held calls are suspended. */
export interface SuspendingRun {
  readonly begin: (mode: Mode) => Promise<SuspendedResult>;
  readonly goOn: (mode: Mode, how: GoingOn) => Promise<SuspendedResult>;
}

export interface SuspendOptions extends Pick<LockOptions, "tools" | "turns" | "onEvent"> {
  readonly gate: Gate;
  readonly plan: Plan;
}

/** How the cases drive a framework whose held calls are suspended. */
export interface SuspendingFramework {
  readonly name: string;
  readonly suspend: (options: SuspendOptions) => Promise<SuspendingRun>;
  /** What becomes of a call that is made again while nobody has decided. */
  readonly undecided: "answered" | "suspended";
  /** Where the application is told of one of the calls in a step that wait, and of the next when that one goes on. */
  readonly tellsOneAlone?: readonly Mode[];
}
