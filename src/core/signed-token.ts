import { CompactSign, compactVerify, errors, type JWK } from "jose";
import type { z } from "zod";
import { parseJson } from "./parse-json.ts";
import { parseChecked } from "./schema.ts";
import {
  invalidKey,
  type PrivateKey,
  type PublicKey,
  parseSigningKey,
  publicKeySchema,
  type SigningKey,
} from "./signing-key.ts";

/** One kind of signed statement: what its header and its claims have to be. */
export interface TokenKind<Claims> {
  /** The `typ` of the header (RFC 8725, section 3.11): a token of one kind never passes for one of another. */
  readonly type: string;
  /** What a refusal calls it, with its article: `a plan token`. */
  readonly name: string;
  readonly claims: z.ZodType<Claims>;
  /** The longest token that is read. */
  readonly maxCharacters: number;
}

/** What opening says: the claims, frozen, or why not, in words that hold nothing of the token. */
export type Opened<Claims> =
  | { readonly valid: true; readonly claims: Claims }
  | { readonly valid: false; readonly detail: string };

/** The most bytes of claims that fit into a token of this length beside the header and the signature. */
export function claimsBytes(maxCharacters: number): number {
  return ((maxCharacters - 4096) / 4) * 3;
}

/**
 * Signs claims: a compact JWS (RFC 7515) with `alg: EdDSA`, the kind's `typ` and the key's `kid`.
 *
 * @throws IntentlockError `ERR_INVALID_CLAIMS` naming what is wrong, `ERR_INVALID_KEY`
 */
export async function signClaims<Claims>(kind: TokenKind<Claims>, claims: unknown, key: SigningKey): Promise<string> {
  const { kid, privateKey } = parseSigningKey(key);
  const payload = new TextEncoder().encode(JSON.stringify(parseClaims(kind, claims)));
  try {
    return await new CompactSign(payload)
      .setProtectedHeader({ alg: "EdDSA", typ: kind.type, kid })
      .sign(preparePrivate(key.privateKey, privateKey));
  } catch {
    // Its `d` does not belong to its `x`. No cause: it might quote the key.
    throw invalidKey();
  }
}

/**
 * Verifies a token of one kind against pinned keys. Never throws. No time is looked at, and no audience.
 *
 * @param keys the public keys that may have signed it; one with the token's `kid` has to be among them
 */
export async function openClaims<Claims>(
  kind: TokenKind<Claims>,
  token: unknown,
  keys: readonly PublicKey[],
): Promise<Opened<Claims>> {
  try {
    if (!isTokenText(token, kind.maxCharacters)) return refused("it is not the text of a token");
    return await verify(
      kind,
      token,
      keys.map((key) => publicKeySchema.parse(key)),
    );
  } catch {
    return refused("it could not be read");
  }
}

/** {@link openClaims} for claims that name whom they are for. Never throws. */
export async function openClaimsFor<Claims extends { readonly aud: string }>(
  kind: TokenKind<Claims>,
  token: unknown,
  { keys, audience }: { readonly keys: readonly PublicKey[]; readonly audience: string },
): Promise<Opened<Claims>> {
  const opened = await openClaims(kind, token, keys);
  if (opened.valid && opened.claims.aud !== audience) return refused("it was signed for another agent");
  return opened;
}

async function verify<Claims>(
  kind: TokenKind<Claims>,
  token: string,
  keys: readonly PublicKey[],
): Promise<Opened<Claims>> {
  let verified: Awaited<ReturnType<typeof compactVerify>>;
  try {
    verified = await compactVerify(
      token,
      ({ kid }) => {
        const key = keys.find((candidate) => candidate.kid === kid);
        if (!key) throw new errors.JWKSNoMatchingKey();
        return preparePublic(key);
      },
      { algorithms: ["EdDSA"] },
    );
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return refused("no pinned key has its key id");
    return refused("its signature does not verify");
  }
  const { alg: _alg, kid: _kid, typ, ...more } = verified.protectedHeader;
  if (typ !== kind.type) return refused(`its type is not ${kind.type}`);
  if (Object.keys(more).length > 0) return refused("its header has more than alg, typ and kid");
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(verified.payload);
    return { valid: true, claims: parseClaims(kind, parseJson(text)) };
  } catch {
    return refused(`its claims are not those of ${kind.name} of a known version`);
  }
}

/** jose reads a key once for each object, which takes as long as a signature: callers hand in copies of the same few. */
const MAX_PUBLIC_KEYS = 1000;
const publicKeys = new Map<string, JWK>();
/** By the caller's object, so that no secret stays longer than with the caller. */
const privateKeys = new WeakMap<PrivateKey, JWK & PrivateKey>();

function preparePublic({ kty, crv, x }: PublicKey): JWK {
  const known = publicKeys.get(x);
  if (known) return known;
  const prepared = { kty, crv, x, alg: "EdDSA" };
  if (publicKeys.size >= MAX_PUBLIC_KEYS) publicKeys.clear();
  publicKeys.set(x, prepared);
  return prepared;
}

/** @param checked a copy of what is in the object now: it may have been another key before */
function preparePrivate(given: PrivateKey, checked: PrivateKey): JWK {
  const known = privateKeys.get(given);
  if (known?.d === checked.d && known.x === checked.x) return known;
  const prepared = { ...checked, alg: "EdDSA" };
  privateKeys.set(given, prepared);
  return prepared;
}

function parseClaims<Claims>({ claims, maxCharacters }: TokenKind<Claims>, value: unknown): Claims {
  return parseChecked(claims, value, {
    code: "ERR_INVALID_CLAIMS",
    what: "The claims are",
    maxBytes: claimsBytes(maxCharacters),
  });
}

function isTokenText(token: unknown, maxCharacters: number): token is string {
  return typeof token === "string" && token.length <= maxCharacters && TOKEN_TEXT.test(token);
}

function refused(detail: string): { readonly valid: false; readonly detail: string } {
  return { valid: false, detail };
}

/**
 * The one way to write a token: decoders forgive white space, padding and the unused bits of the signature's last
 * character, and so would take many texts for the same token.
 */
export const TOKEN_TEXT: RegExp = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;
