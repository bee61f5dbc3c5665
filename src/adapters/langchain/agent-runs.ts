import type { Session } from "../../session/index.ts";

interface AgentRun {
  /** Of whoever the run began for. */
  readonly user: string;
  readonly session: Promise<Session>;
}

/** Runs that were interrupted and never resumed stay; the oldest of more than these is given up. */
const MAX_RUNS = 10_000;

/** The sessions of an agent's runs. A run is known by a name that nobody can guess, kept in the private state of the agent. */
export class AgentRuns {
  readonly #runs = new Map<string, AgentRun | undefined>();

  /** @returns the name of a new run */
  begin(): string {
    const id = crypto.randomUUID();
    this.#runs.set(id, undefined);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= MAX_RUNS) break;
      void this.end(oldest).catch(() => undefined);
    }
    return id;
  }

  /** The session of a run, made once; undefined for a run that did not begin in this process, or for another user. */
  open(id: string | undefined, user: string, start: () => Promise<Session>): Promise<Session> | undefined {
    if (id === undefined || !this.#runs.has(id)) return undefined;
    const run = this.#runs.get(id) ?? { user, session: start() };
    this.#runs.set(id, run);
    return run.user === user ? run.session : undefined;
  }

  /** The session that a run has; undefined if it has none, or has it for another user. */
  find(id: string | undefined, user: string): Promise<Session> | undefined {
    const run = id === undefined ? undefined : this.#runs.get(id);
    return run?.user === user ? run.session : undefined;
  }

  async end(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    await (await run?.session)?.close();
  }
}
