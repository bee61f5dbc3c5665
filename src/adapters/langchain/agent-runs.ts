import { IntentlockError } from "../../core/index.ts";
import type { Session } from "../../session/index.ts";

/** What a run of an agent says of itself, at each of its steps. */
export interface RunKey {
  /** From the agent's private state. */
  readonly id: string | undefined;
  /** Whom the step is made for. */
  readonly user: string;
  readonly thread: unknown;
  /** Goes on with the plan that the private state names, if it names one, for the user that it was signed for. */
  readonly resume?: (() => Promise<Session>) | undefined;
}

interface AgentRun extends Pick<RunKey, "user" | "thread"> {
  readonly session: Promise<Session>;
}

/** Runs that failed, or were interrupted and never resumed, stay; those that did nothing for longest are given up. */
const MAX_RUNS = 10_000;

/**
 * The sessions of an agent's runs. A run is known by a name that nobody can guess, kept in the private state of the agent,
 * where LangGraph finds it again when the run is resumed; it belongs to one user and one thread, whatever that state says.
 * Where the run is not known, its plan goes on, if the gate has it on record.
 */
export class AgentRuns {
  readonly #runs = new Map<string, AgentRun | undefined>();
  readonly #max: number;

  constructor(max: number = MAX_RUNS) {
    this.#max = max;
  }

  /** @returns the name of a new run */
  begin(): string {
    const id = crypto.randomUUID();
    this.#runs.set(id, undefined);
    this.#giveUpOldest();
    return id;
  }

  /** The session of a run, made once. @throws IntentlockError `ERR_UNKNOWN_PLAN` for a run that is not one of these */
  async open(key: RunKey, start: () => Promise<Session>): Promise<Session> {
    const { id, user, thread } = key;
    if (id === undefined || !this.#runs.has(id) || this.#runs.get(id)) return await this.find(key);
    const session = start();
    this.#runs.set(id, { user, thread, session });
    // Without a plan there is no session yet: whoever asks the model once more is planned for once more.
    session.catch(() => this.#runs.get(id)?.session === session && this.#runs.set(id, undefined));
    return await session;
  }

  /** The session that a run has. @throws IntentlockError `ERR_UNKNOWN_PLAN` if it has none */
  async find({ id, user, thread, resume }: RunKey): Promise<Session> {
    if (id === undefined) throw notHere();
    if (!this.#runs.has(id) && resume) {
      const session = resume();
      this.#runs.set(id, { user, thread, session });
      this.#giveUpOldest();
      session.catch(() => this.#runs.get(id)?.session === session && this.#runs.delete(id));
      return await session;
    }
    const run = this.#runs.get(id);
    if (run?.user !== user || run.thread !== thread) throw notHere();
    this.#runs.delete(id);
    this.#runs.set(id, run);
    return await run.session;
  }

  /** The id of a run's plan, for the private state; undefined if it has none here. */
  async planOf(id: string | undefined): Promise<string | undefined> {
    return id === undefined ? undefined : (await this.#runs.get(id)?.session)?.planId;
  }

  /** @throws what closing the session throws */
  async end(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    await (await run?.session)?.close();
  }

  #giveUpOldest(): void {
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= this.#max) break;
      void this.end(oldest).catch(() => undefined);
    }
  }
}

function notHere(): IntentlockError {
  return new IntentlockError(
    "ERR_UNKNOWN_PLAN",
    "There is no session of this run for this user: a run is resumed on the thread and for the user that it began with, and in the same process unless the gate has a server",
  );
}
