import { z } from "zod";
import type { Approval } from "./call.ts";
import {
  digestSchema,
  fingerprintSchema,
  idSchema,
  normalEmailSchema,
  ruleIdSchema,
  secondsSchema,
  toolNameSchema,
} from "./fields.ts";
import { closedObject } from "./schema.ts";
import { type Opened, openClaimsFor, signClaims, type TokenKind } from "./signed-token.ts";
import type { PublicKey, SigningKey } from "./signing-key.ts";

/** The `typ` of an approval token's header. */
export const APPROVAL_TOKEN_TYPE = "intentlock-approval+jwt";

/** The longest approval token that is read, in characters. */
export const MAX_APPROVAL_CHARACTERS = 32_768;

/** What an approval token says: a person approved exactly this action, once. Times are in seconds since the epoch. */
export interface ApprovalClaims {
  readonly ver: 1;
  readonly iss: string;
  /** The agent's immutable id. */
  readonly aud: string;
  /** Of this token. It can be claimed once. */
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  readonly holdId: string;
  readonly planId: string;
  readonly tool: string;
  /** The rule that held the call. */
  readonly rule: string;
  /** Of the tool and the arguments, as `digestCall()` gives it. */
  readonly digest: string;
  /** Of the tool, if the call had one. */
  readonly fingerprint?: string;
  /** E-mail of the person, as `normalizeEmail()` writes it. */
  readonly approvedBy: string;
}

export const approvalClaimsSchema: z.ZodType<ApprovalClaims> = closedObject({
  ver: z.literal(1),
  iss: idSchema,
  aud: idSchema,
  jti: idSchema,
  iat: secondsSchema,
  exp: secondsSchema,
  holdId: idSchema,
  planId: idSchema,
  tool: toolNameSchema,
  rule: ruleIdSchema,
  digest: digestSchema,
  fingerprint: fingerprintSchema.exactOptional(),
  approvedBy: normalEmailSchema,
});

const APPROVAL_TOKEN: TokenKind<ApprovalClaims> = {
  type: APPROVAL_TOKEN_TYPE,
  name: "an approval token",
  claims: approvalClaimsSchema,
  maxCharacters: MAX_APPROVAL_CHARACTERS,
};

/**
 * Signs a person's approval, in the form of a plan token but with a `typ` of its own.
 *
 * @param claims all claims but `ver`, which is set
 * @throws IntentlockError `ERR_INVALID_CLAIMS` naming what is wrong, `ERR_INVALID_KEY`
 */
export async function signApprovalToken(
  claims: Omit<ApprovalClaims, "ver"> & { readonly ver?: 1 },
  key: SigningKey,
): Promise<string> {
  return await signClaims(APPROVAL_TOKEN, { ver: 1, ...claims }, key);
}

/**
 * Verifies an approval token against pinned keys and for one agent. Never throws. Whether it has expired is `check()`'s
 * to say, and whether it was claimed before is the server's.
 *
 * @param options.audience the agent's id, which `aud` has to equal
 */
export async function openApprovalToken(
  token: string,
  keys: readonly PublicKey[],
  options: { readonly audience: string },
): Promise<Opened<ApprovalClaims>> {
  return await openClaimsFor(APPROVAL_TOKEN, token, { keys, audience: options?.audience });
}

/** The evidence for `check()` in a token that was opened. Its claim is for the caller to see to. */
export function toApproval(claims: ApprovalClaims): Approval {
  const { holdId, planId, rule, digest, fingerprint, approvedBy, exp } = claims;
  return { holdId, planId, rule, digest, approvedBy, exp, ...(fingerprint !== undefined && { fingerprint }) };
}
