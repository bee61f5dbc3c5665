import type { Plan } from "../core/index.ts";
import type { UserInput } from "../gates/gate.ts";
import type { TaskInput } from "./task.ts";

/** Who a run is for, and what they asked for: from the application's own authentication, never from a client or a model. */
export interface RunIdentity {
  readonly user: UserInput;
  readonly task: TaskInput;
  /** The plan, if the application knows it. */
  readonly plan?: Plan | undefined;
}
