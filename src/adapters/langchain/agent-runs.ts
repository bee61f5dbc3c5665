import { IntentlockError } from "../../core/index.ts";
import type { Session } from "../../session/index.ts";

/** What a run of an agent says of itself, at each of its steps. */
export interface RunKey {
  /** From the agent's private state. */
  readonly id: string | undefined;
  /** Whom the step is made for. */
  readonly user: string;
  readonly thread: unknown;
}

interface AgentRun extends Omit<RunKey, "id"> {
  readonly session: Promise<Session>;
}

/** Runs that failed, or were interrupted and never resumed, stay; those that did nothing for longest are given up. */
const MAX_RUNS = 10_000;

/**
 * The sessions of an agent's runs. A run is known by a name that nobody can guess, kept in the private state of the agent,
 * where LangGraph finds it again when the run is resumed; it belongs to one user and one thread, whatever that state says.
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
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= this.#max) break;
      void this.end(oldest).catch(() => undefined);
    }
    return id;
  }

  /** The session of a run, made once. @throws IntentlockError `ERR_UNKNOWN_PLAN` for a run that is not one of these */
  async open({ id, ...whose }: RunKey, start: () => Promise<Session>): Promise<Session> {
    if (id === undefined || !this.#runs.has(id)) throw notHere();
    if (!this.#runs.get(id)) this.#runs.set(id, { ...whose, session: start() });
    const session = this.find({ id, ...whose });
    // Without a plan there is no session yet: whoever asks the model once more is planned for once more.
    session.catch(() => this.#runs.get(id)?.session === session && this.#runs.set(id, undefined));
    return await session;
  }

  /** The session that a run has. @throws IntentlockError `ERR_UNKNOWN_PLAN` if it has none */
  find({ id, user, thread }: RunKey): Promise<Session> {
    const run = id === undefined ? undefined : this.#runs.get(id);
    if (id === undefined || run?.user !== user || run.thread !== thread) throw notHere();
    this.#runs.delete(id);
    this.#runs.set(id, run);
    return run.session;
  }

  /** @throws what closing the session throws */
  async end(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    await (await run?.session)?.close();
  }
}

function notHere(): IntentlockError {
  return new IntentlockError(
    "ERR_UNKNOWN_PLAN",
    "This process has no session of this run for this user: a run is resumed in the process, on the thread and for the user that it began with",
  );
}
