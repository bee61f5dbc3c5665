import { type AnswerStream, ProblemError, type ServerContext } from "../handler.ts";
import { describeError } from "../http/log-request.ts";
import { HOLD_OPENED_SIGNAL, HOLD_SIGNAL, type HoldHead, type Person } from "../store/index.ts";
import { EventStream } from "./event-stream.ts";
import { HoldSight, type KeysOfAgents } from "./may-see.ts";
import { findSignedIn, type SignedIn } from "./session.ts";

/** How often each stream shows that it is there, and is looked at: whether its person is still signed in, and as what. */
export const BEAT_MS = 15_000;
/** As many pages as one person may have open on one server. */
const MAX_STREAMS = 20;

interface Watcher {
  readonly stream: EventStream;
  readonly sessionHash: string;
  person: Person;
}

/**
 * Tells the pages that are open what happens to holds, on whichever server it does. A hold is read once for all of them,
 * and told to those of whom {@link HoldSight} says that they may see it. Nothing is listened to while no page is open.
 */
export class InboxFeed {
  readonly #context: Pick<ServerContext, "store" | "clock" | "log">;
  readonly #watchers = new Set<Watcher>();
  readonly #signalled = new Set<string>();
  #stop: (() => void) | undefined;
  #isTelling = false;

  constructor(context: Pick<ServerContext, "store" | "clock" | "log">) {
    this.#context = context;
  }

  /** Events for one page of a person who is signed in, until they are not. @throws ProblemError `rate_limited` */
  open({ person, session }: SignedIn): AnswerStream {
    const open = [...this.#watchers].filter((watcher) => watcher.person.email === person.email);
    if (open.length >= MAX_STREAMS) {
      throw new ProblemError("rate_limited", { detail: "too many pages are open", retryAfterSeconds: 60 });
    }
    const watcher: Watcher = {
      stream: new EventStream(() => this.#remove(watcher)),
      sessionHash: session.hash,
      person,
    };
    this.#watchers.add(watcher);
    this.#stop ??= this.#start();
    return watcher.stream.body;
  }

  #start(): () => void {
    const { signals } = this.#context.store;
    const onSignal = (holdId: string | undefined): void => {
      if (holdId === undefined) this.#tellToLook();
      else this.#signalled.add(holdId);
      if (!this.#isTelling) void this.#tellSignalled();
    };
    const ends = [HOLD_SIGNAL, HOLD_OPENED_SIGNAL].map((channel) => signals.listen(channel, onSignal));
    const timer = setInterval(() => void this.#beat(), BEAT_MS).unref();
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
    };
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #tellToLook(): void {
    for (const { stream } of this.#watchers) stream.look();
  }

  /** What comes while it reads is told after that: in a flood of signals each hold is read once in a while. */
  async #tellSignalled(): Promise<void> {
    const { store } = this.#context;
    this.#isTelling = true;
    while (this.#signalled.size > 0) {
      const ids = [...this.#signalled];
      this.#signalled.clear();
      const keys: KeysOfAgents = new Map();
      try {
        for (const id of ids) {
          const head = await store.holds.head(id);
          if (head) await this.#tell(head, keys);
        }
      } catch (error) {
        this.#context.log.error({ error: describeError(error) }, "inbox events failed");
        this.#tellToLook();
      }
    }
    this.#isTelling = false;
  }

  async #tell(head: HoldHead, keys: KeysOfAgents): Promise<void> {
    const isLate = head.status === "pending" && this.#context.clock() >= head.expiresAt;
    for (const { stream, person } of this.#watchers) {
      if (!(await new HoldSight(this.#context, person, keys).maySee(head))) continue;
      stream.tell({ holdId: head.id, status: isLate ? "expired" : head.status });
    }
  }

  async #beat(): Promise<void> {
    for (const watcher of this.#watchers) {
      try {
        const found = await findSignedIn(this.#context, watcher.sessionHash);
        if (found) watcher.person = found.person;
        if (found) watcher.stream.beat();
        else watcher.stream.end();
      } catch (error) {
        // Who cannot be looked at is not trusted any longer: the page comes again.
        watcher.stream.end();
        this.#context.log.error({ error: describeError(error) }, "inbox events failed");
      }
    }
  }
}
