import type { HoldDecision } from "../../core/index.ts";
import type { AuditSink } from "../audit-sink.ts";
import type { OpenedHold } from "../gate.ts";
import { type Outbox, openOutbox, type Uploader, type UploadOptions } from "../outbox/index.ts";

type BlockedHold = Extract<OpenedHold, { readonly status: "blocked" }>;

const DEFAULT_PATH = ".intentlock/outbox.db";
/** The longest wait for the entries that a hold rests on to get to the server. */
const FLUSH_MS = 30_000;

/** The outbox of a gate: opened when it is first needed, and uploaded once it is known whose entries they are. */
export class GateOutbox implements AuditSink {
  readonly #given: string | Outbox;
  #opening: Promise<Outbox> | undefined;
  #outbox: Outbox | undefined;
  #uploader: Uploader | undefined;

  /** @param given the path of its file, or one that is open: then it stays open */
  constructor(given: string | Outbox = DEFAULT_PATH) {
    this.#given = given;
  }

  /** @throws IntentlockError `ERR_OUTBOX` */
  open(): Promise<Outbox> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Nothing is appended before it was opened, and nothing waits for that once more. */
  append(...batch: Parameters<Outbox["append"]>): Promise<void> {
    return this.#outbox ? this.#outbox.append(...batch) : this.open().then((outbox) => outbox.append(...batch));
  }

  /** Begins to upload, once. */
  startUpload(options: UploadOptions): void {
    this.#uploader ??= this.#outbox?.startUpload(options);
  }

  /** Uploads what there is of a plan, as far as that goes. */
  async flush(planId: string): Promise<void> {
    await this.#uploader?.flush({ planId, timeoutMs: FLUSH_MS });
  }

  /** The server decides about a hold by what is on record there. @returns why it cannot, if the entries do not get there */
  async flushHold({ planId, seq = 0 }: HoldDecision, timeoutMs: number = FLUSH_MS): Promise<BlockedHold | undefined> {
    const left = await this.#uploader?.flush({ planId, seq, timeoutMs: Math.min(FLUSH_MS, timeoutMs) });
    if (left && left.waiting === 0 && left.refused === 0) return undefined;
    const detail = "the server has not taken the entries that the hold rests on";
    return { status: "blocked", reason: left?.refused ? "gate_rejected" : "server_unavailable", detail };
  }

  /** Uploads what waits, for as long as it may take. */
  async close(timeoutMs = 5000): Promise<void> {
    if (typeof this.#given === "object") await this.#uploader?.close({ timeoutMs });
    else await (await this.#opening)?.close({ timeoutMs });
  }

  async #open(): Promise<Outbox> {
    this.#outbox = typeof this.#given === "string" ? await openOutbox({ path: this.#given }) : this.#given;
    return this.#outbox;
  }
}
