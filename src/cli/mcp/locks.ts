import { goalOf, PlanLock, type StartPlan } from "../../adapters/mcp/proxy/plan-lock.ts";
import type { Plan } from "../../core/index.ts";
import type { Gate } from "../../gates/index.ts";
import { type SessionEvent, startSession } from "../../session/index.ts";
import { describeEvent } from "./describe-event.ts";

export interface LocksOptions {
  readonly gate: Gate;
  readonly user: string;
  /** What the user asked for, if somebody has said it. */
  readonly task: string | undefined;
  /** Undefined: the model behind each client declares one. */
  readonly plan: Plan | undefined;
  readonly waitMs: number;
  readonly log: (line: string) => void;
}

/** The locks of a proxy's clients: all under one plan that was given, or each under what its own model declares. */
export class Locks {
  readonly #options: LocksOptions;
  readonly #made = new Set<PlanLock>();

  constructor(options: LocksOptions) {
    this.#options = options;
  }

  next(): PlanLock {
    const { plan } = this.#options;
    const [shared] = plan ? this.#made : [];
    const lock = shared ?? new PlanLock(startWith(this.#options), plan);
    this.#made.add(lock);
    return lock;
  }

  /** What a client's model has declared is over when the client has gone. Trouble comes up again when all are closed. */
  async drop(lock: PlanLock): Promise<void> {
    if (!lock.isDeclared) return;
    await lock.close().then(
      () => this.#made.delete(lock),
      () => undefined,
    );
  }

  /** @throws IntentlockError `ERR_AUDIT_WRITE`, once all were tried */
  async close(): Promise<void> {
    const results = await Promise.allSettled([...this.#made].map((lock) => lock.close()));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}

function startWith({ gate, user, task, plan, waitMs, log }: LocksOptions): StartPlan {
  const onEvent = (event: SessionEvent): void => {
    const line = describeEvent(event);
    if (line !== undefined) log(line);
  };
  return async (declared, tools, signal) => {
    // Whoever looks at a plan takes the task for what the user has said.
    const words = plan ? goalOf(declared) : `(the model's words, not the user's) ${goalOf(declared)}`;
    const more = { approvePlan: plan === undefined, holdTimeoutMs: waitMs, signal, onEvent };
    return await startSession({ gate, user, task: task ?? words, tools, plan: declared, ...more });
  };
}
