import { endpoints } from "../../core/api/index.ts";
import { openReceipt, type SigningKey, signBatch } from "../../core/index.ts";
import { type UploadBatch, UploadError } from "../outbox/index.ts";
import type { KeySet } from "./key-set.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError } from "./server-error.ts";

export interface BatchReceiver {
  readonly client: ServerClient;
  readonly keys: KeySet;
  /** The agent's id, for which receipts are signed. */
  readonly agent: string;
}

/**
 * Signs a batch with the plan's client key and hands it to the server.
 *
 * @returns the server's receipt, which names at least the end of the batch
 * @throws UploadError
 */
export async function uploadBatch(
  { client, keys, agent }: BatchReceiver,
  batch: UploadBatch,
  signal: AbortSignal,
): Promise<string> {
  const { planId, bodies, from, to, clientKey } = batch;
  if (!clientKey) throw new UploadError("The plan's key is not there to sign its entries with", { status: 400 });
  const { d: _, ...publicKey } = clientKey;
  const key: SigningKey = { kid: clientKey.kid, privateKey: clientKey, publicKey };
  try {
    // By the digests that were made when they were written: the server makes them again.
    const described = { planId, from: from.seq, count: bodies.length, prev: from.prev, head: to.prev ?? "" };
    const signature = await signBatch(described, key);
    // The texts go as they are, neither parsed nor printed here: this runs beside the decisions.
    const text = `{"entries":[${bodies.join(",")}],"planId":${JSON.stringify(planId)},"signature":"${signature}"}`;
    const { receipt } = await client.ask(endpoints.uploadAudit, { text, signal });
    const opened = await keys.open((known) => openReceipt(receipt, known, { audience: agent }));
    if (!opened.valid) throw new UploadError(`The server's receipt is not valid: ${opened.detail}`);
    const { claims } = opened;
    const isTheirs =
      claims.planId === planId && (claims.seq > to.seq || (claims.seq === to.seq && claims.head === to.prev));
    if (!isTheirs) throw new UploadError("The server's receipt is for something else");
    return receipt;
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    const { status, retryAfterMs } = error;
    const more = { ...(status !== undefined && { status }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
    throw new UploadError(error.message, { ...more, cause: error });
  }
}
