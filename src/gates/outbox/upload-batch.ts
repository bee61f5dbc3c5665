import { type AuditEntry, type ChainHead, IntentlockError, type PrivateKey } from "../../core/index.ts";
import type { TakenBatch } from "./messages.ts";

/** A piece of one plan's chain, on its way to a server. */
export interface UploadBatch {
  readonly planId: string;
  /** Parsed when they are asked for. */
  readonly entries: readonly AuditEntry[];
  /** The same as JSON texts, as they are stored. */
  readonly bodies: readonly string[];
  /** Where the chain stands before the first entry. */
  readonly from: ChainHead;
  /** Where it stands after the last. */
  readonly to: ChainHead;
  readonly clientKey?: PrivateKey;
}

/** Why a batch was not stored by a server. */
export class UploadError extends IntentlockError {
  /** The server's answer; undefined if there was none. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { status?: number; retryAfterMs?: number; cause?: unknown } = {}) {
    super("ERR_AUDIT_UPLOAD", message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A server's answer that will be the same the next time: not one about the key, the time or the rate. */
export function isForGood(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}

export function toBatch({ planId, clientKey, from, prev, head, bodies }: TakenBatch): UploadBatch {
  return {
    planId,
    get entries() {
      return bodies.map((body) => JSON.parse(body) as AuditEntry);
    },
    bodies,
    from: { planId, seq: from, prev },
    to: { planId, seq: from + bodies.length, prev: head },
    ...(clientKey !== null && { clientKey: JSON.parse(clientKey) as PrivateKey }),
  };
}
