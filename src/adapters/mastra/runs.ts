import { IntentlockError } from "../../core/index.ts";
import type { Gate } from "../../gates/gate.ts";
import type { Session } from "../../session/index.ts";
import type { RunningOptions } from "../../session/open-session.ts";
import { resumeWithSignedTools } from "../../session/resume-session.ts";
import type { RunIdentity } from "../../session/run-identity.ts";

export type { RunIdentity } from "../../session/run-identity.ts";

/** Mastra's `RequestContext`, as far as it is used here. */
export interface Context {
  readonly get: (key: string) => unknown;
  readonly set: (key: string, value: unknown) => void;
}

interface Run {
  readonly identity: RunIdentity;
  readonly session: Promise<Session>;
}

/** A step of a run, before its model is asked. */
export interface RunStep {
  readonly context: Context;
  readonly isFirstStep: boolean;
  readonly start: (identity: RunIdentity) => Promise<Session>;
}

const IDENTITY = "intentlock";
/** Where the name of a run is kept: Mastra stores it with a run that is suspended. */
const RUN = "intentlock.run";
/** Where the id of a run's plan is kept, for another process to go on with. It names the plan, and proves nothing. */
const PLAN = "intentlock.plan";
/** Nobody says when a run is over that was suspended; the oldest of more than these is given up. */
const MAX_RUNS = 10_000;

const runsByGate = new WeakMap<Gate, Runs>();

/** The runs under a gate, whichever of the agent's parts has begun them. */
export function runsOf(gate: Gate): Runs {
  const runs = runsByGate.get(gate) ?? new Runs(gate);
  runsByGate.set(gate, runs);
  return runs;
}

/** The sessions of runs, by the identity in their request context: a request is one run. */
class Runs {
  readonly #runs = new Map<string, Run>();
  readonly #sessions = new WeakSet<Session>();
  /** Those that another process began. */
  readonly #resumed = new WeakSet<Session>();
  readonly #lockedNames = new Set<string>();
  readonly #gate: Gate;
  #running: Partial<RunningOptions> = {};

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** How sessions of other processes go on. */
  goOnWith(running: Pick<RunningOptions, "onEvent" | "onHold" | "holdTimeoutMs">): void {
    this.#running = running;
  }

  /** `lockTools` has locked a tool of this name: its calls are checked by the session of their run. */
  noteLocked(name: string): void {
    this.#lockedNames.add(name);
  }

  /** Whether `lockTools` has locked a tool of this name. */
  hasLocked(name: string): boolean {
    return this.#lockedNames.has(name);
  }

  /** Whether another process began the run of a session. */
  hasResumed(session: Session): boolean {
    return this.#resumed.has(session);
  }

  /** Whether a session is that of a run under this gate. */
  readonly owns = (session: Session): boolean => this.#sessions.has(session);

  /**
   * The session of a run, begun if this is the first step of a new one. A run keeps the session that it began with, whoever
   * resumes it, and with whatever request.
   *
   * @throws IntentlockError without an identity, or for a run of another process
   */
  async open({ context, isFirstStep, start }: RunStep): Promise<Session> {
    const known = this.#find(context) ?? (isFirstStep ? undefined : this.#resume(context));
    if (known && !isFirstStep) return await known.session;
    const identity = readIdentity(context);
    if (known && isSame(known.identity, identity)) return await known.session;
    if (!isFirstStep || (!known && context.get(RUN) !== undefined)) throw notHere();
    const id = crypto.randomUUID();
    const session = start(identity);
    this.#runs.set(id, { identity, session });
    context.set(RUN, id);
    this.#giveUpOldest();
    try {
      const begun = await session;
      this.#sessions.add(begun);
      context.set(PLAN, begun.planId);
      return begun;
    } catch (error) {
      // A run that has not begun can be begun again.
      this.#runs.delete(id);
      if (context.get(RUN) === id) context.set(RUN, undefined);
      throw error;
    }
  }

  /** The session that a run has. @throws IntentlockError if it has none */
  async find(context: Context | undefined): Promise<Session> {
    const run = context && (this.#find(context) ?? this.#resume(context));
    if (!run || !isSame(run.identity, readIdentity(context))) throw notHere();
    return await run.session;
  }

  #find(context: Context): Run | undefined {
    const id = context.get(RUN);
    return typeof id === "string" ? this.#runs.get(id) : undefined;
  }

  /** A run of another process, for the user of the context, whose plan it has to be; undefined if no plan can go on. */
  #resume(context: Context): Run | undefined {
    const [id, planId] = [context.get(RUN), context.get(PLAN)];
    const gate = this.#gate;
    if (typeof id !== "string" || typeof planId !== "string" || !gate.resume) return undefined;
    const identity = readIdentity(context);
    const session = resumeWithSignedTools({ ...this.#running, gate, planId, user: identity.user });
    const run = { identity, session };
    this.#runs.set(id, run);
    this.#giveUpOldest();
    session.then(
      (one) => {
        this.#sessions.add(one);
        this.#resumed.add(one);
      },
      () => this.#runs.get(id) === run && this.#runs.delete(id),
    );
    return run;
  }

  #giveUpOldest(): void {
    for (const [id, { session }] of this.#runs) {
      if (this.#runs.size <= MAX_RUNS) break;
      this.#runs.delete(id);
      session.then((one) => one.close()).catch(() => undefined);
    }
  }
}

export type { Runs };

function readIdentity(context: Context): RunIdentity {
  const { user, task, plan } = (context.get(IDENTITY) ?? {}) as Partial<RunIdentity>;
  if (user === undefined || task === undefined) {
    throw new IntentlockError(
      "ERR_INVALID_OPTIONS",
      'The run says not for whom it is: requestContext.set("intentlock", { user, task }) before agent.generate(prompt, { requestContext })',
    );
  }
  return { user, task, plan };
}

/** By what they say: Mastra gives a run that goes on a copy of its request context. */
function isSame(first: RunIdentity, second: RunIdentity): boolean {
  if (first.user === second.user && first.task === second.task && first.plan === second.plan) return true;
  return JSON.stringify(first) === JSON.stringify(second);
}

function notHere(): IntentlockError {
  return new IntentlockError(
    "ERR_UNKNOWN_PLAN",
    "This process has no session of this run: a run begins with a step of its model, and is resumed with the identity that it began with, and in the same process unless the gate has a server",
  );
}
