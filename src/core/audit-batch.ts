import { z } from "zod";
import { type AuditEntry, type ChainHead, continueChain } from "./audit.ts";
import type { Sha256 } from "./digest.ts";
import { IntentlockError } from "./errors.ts";
import { countSchema, digestSchema, idSchema } from "./fields.ts";
import { closedObject } from "./schema.ts";
import { openClaims, signClaims, type TokenKind } from "./signed-token.ts";
import type { PublicKey, SigningKey } from "./signing-key.ts";

/** The `typ` of a batch signature's header. */
export const AUDIT_BATCH_TYPE = "intentlock-audit-batch+jwt";

/** The most entries of one batch. */
export const MAX_BATCH_ENTRIES = 1000;

/** Entries of one plan that follow on each other, by their place in the chain. */
export interface AuditBatch {
  readonly planId: string;
  /** `seq` of the first. */
  readonly from: number;
  readonly count: number;
  /** Digest of the entry before the first; null if there is none. */
  readonly prev: string | null;
  /** Digest of the last. */
  readonly head: string;
}

/** What a batch signature says. */
export interface AuditBatchClaims extends AuditBatch {
  readonly ver: 1;
}

const batchSchema: z.ZodType<AuditBatchClaims> = closedObject({
  ver: z.literal(1),
  planId: idSchema,
  from: countSchema,
  count: z.int().min(1).max(MAX_BATCH_ENTRIES),
  prev: digestSchema.nullable(),
  head: digestSchema,
}).refine(({ from, prev }) => (from === 0) === (prev === null), "only the first entry follows on none");

const AUDIT_BATCH: TokenKind<AuditBatchClaims> = {
  type: AUDIT_BATCH_TYPE,
  name: "a batch of audit entries",
  claims: batchSchema,
  maxCharacters: 8192,
};

/**
 * The place in the chain of entries that follow on each other.
 *
 * @throws IntentlockError `ERR_INVALID_BATCH` for none, more than {@link MAX_BATCH_ENTRIES} or ones that do not follow
 */
export function describeBatch(entries: readonly AuditEntry[], hash?: Sha256): AuditBatch {
  const [first] = entries;
  if (!first || entries.length > MAX_BATCH_ENTRIES) {
    throw new IntentlockError("ERR_INVALID_BATCH", `A batch has 1 to ${MAX_BATCH_ENTRIES} entries`);
  }
  const { planId, seq, prev } = first;
  const { head, problem } = continueChain({ planId, seq, prev }, entries, hash);
  if (problem) throw new IntentlockError("ERR_INVALID_BATCH", `Entry ${problem.seq}: ${problem.problem}`);
  return { planId, from: seq, count: entries.length, prev, head: head.prev as string };
}

/**
 * Signs a batch with the plan's client key, the one that the plan token names in `cnf`: a compact JWS with a `typ` of
 * its own, beside the entries and without them.
 *
 * @throws IntentlockError `ERR_INVALID_CLAIMS`, `ERR_INVALID_KEY`
 */
export async function signBatch({ planId, from, count, prev, head }: AuditBatch, key: SigningKey): Promise<string> {
  return await signClaims(AUDIT_BATCH, { ver: 1, planId, from, count, prev, head }, key);
}

/** A batch that is what its signature says, or why it is not. `entry` tells a bad entry from a bad signature. */
export type OpenedBatch =
  | { readonly valid: true; readonly batch: AuditBatch; readonly head: ChainHead }
  | { readonly valid: false; readonly detail: string; readonly entry?: number };

/**
 * Verifies that a batch was signed by the plan's client, and that the entries are the piece of the chain that was
 * signed. Never throws. Where the piece belongs is to be compared with the head that is known: it may be an old one.
 * Arguments are in the chain by their digest, so entries whose arguments were taken away since are valid too.
 *
 * @param key the `cnf` key of the plan's token
 */
export async function openBatch(
  signature: string,
  key: PublicKey,
  entries: readonly AuditEntry[],
  options: { readonly hash?: Sha256 } = {},
): Promise<OpenedBatch> {
  const opened = await openClaims(AUDIT_BATCH, signature, [key]);
  if (!opened.valid) return opened;
  const { ver: _, ...batch } = opened.claims;
  const { planId, from, count, prev } = batch;
  if (!Array.isArray(entries) || entries.length !== count) {
    return { valid: false, detail: "it was signed for another number of entries" };
  }
  const { head, problem } = continueChain({ planId, seq: from, prev }, entries, options.hash);
  if (problem) return { valid: false, detail: problem.problem, entry: problem.seq };
  if (head.prev !== batch.head) return { valid: false, detail: "its last entry is not the one that was signed" };
  return { valid: true, batch, head };
}
