import { z } from "zod";
import { digestSchema, idSchema } from "./fields.ts";
import { closedObject } from "./schema.ts";
import { type Opened, openClaimsFor, signClaims, type TokenKind } from "./signed-token.ts";
import type { PublicKey, SigningKey } from "./signing-key.ts";

/** The `typ` of a receipt's header. */
export const RECEIPT_TYPE = "intentlock-receipt+jwt";

/** What a receipt says: the server has every entry of a plan up to its head. */
export interface ReceiptClaims {
  readonly ver: 1;
  readonly iss: string;
  /** The agent's immutable id. */
  readonly aud: string;
  readonly planId: string;
  /** Of the entry that the server expects next: it has all before. */
  readonly seq: number;
  /** Digest of the last entry that it has. */
  readonly head: string;
  /** Milliseconds since the epoch, by the server's clock. */
  readonly receivedAt: number;
}

const receiptSchema: z.ZodType<ReceiptClaims> = closedObject({
  ver: z.literal(1),
  iss: idSchema,
  aud: idSchema,
  planId: idSchema,
  seq: z.int().min(1),
  head: digestSchema,
  receivedAt: z.int().min(0),
});

const RECEIPT: TokenKind<ReceiptClaims> = {
  type: RECEIPT_TYPE,
  name: "a receipt",
  claims: receiptSchema,
  maxCharacters: 8192,
};

/**
 * Signs a receipt with the server's signing key.
 *
 * @throws IntentlockError `ERR_INVALID_CLAIMS`, `ERR_INVALID_KEY`
 */
export async function signReceipt(
  claims: Omit<ReceiptClaims, "ver"> & { readonly ver?: 1 },
  key: SigningKey,
): Promise<string> {
  return await signClaims(RECEIPT, { ver: 1, ...claims }, key);
}

/** Verifies a receipt against pinned keys and for one agent. Never throws. */
export async function openReceipt(
  token: string,
  keys: readonly PublicKey[],
  options: { readonly audience: string },
): Promise<Opened<ReceiptClaims>> {
  return await openClaimsFor(RECEIPT, token, { keys, audience: options?.audience });
}
