import { MAX_TOKEN_CHARACTERS, type PlanClaims, planClaimsSchema } from "./claims.ts";
import { type CompiledToken, compileToken } from "./compile-token.ts";
import { openClaimsFor, signClaims, type TokenKind } from "./signed-token.ts";
import { type PublicKey, publicKeySchema, type SigningKey } from "./signing-key.ts";

/** The `typ` of a plan token's header. Tokens of another type are refused, whoever signed them. */
export const PLAN_TOKEN_TYPE = "intentlock-plan+jwt";

/** What {@link openPlanToken} says of a token. `check()` takes it as it is, and no look-alike. */
export type OpenedToken = ValidToken | InvalidToken;

export interface InvalidToken {
  readonly valid: false;
  /** Why, in words that hold nothing of the token. */
  readonly detail: string;
}

/** A token whose signature, type and audience are right. Whether it has expired is `check()`'s to say. */
export class ValidToken {
  readonly valid = true as const;
  readonly claims: PlanClaims;
  readonly #compiled: CompiledToken;

  /** For {@link openPlanToken} only: the package does not export the class itself. */
  constructor(claims: PlanClaims) {
    this.claims = claims;
    this.#compiled = compileToken(claims);
    Object.freeze(this);
  }

  /** What `check()` needs of a token; undefined for any object that `openPlanToken` did not make. */
  static compiled(token: unknown): CompiledToken | undefined {
    return typeof token === "object" && token !== null && #compiled in token ? token.#compiled : undefined;
  }
}
// A token that was opened would lead to the constructor, and so to tokens that nobody signed.
Object.defineProperty(ValidToken.prototype, "constructor", { value: Object });

/**
 * Signs a plan: a compact JWS (RFC 7515) with `alg: EdDSA` and the key's `kid`.
 *
 * @param claims all claims but `ver`, which is set
 * @throws IntentlockError `ERR_INVALID_CLAIMS` naming what is wrong, `ERR_INVALID_KEY`
 */
export async function signPlanToken(
  claims: Omit<PlanClaims, "ver"> & { readonly ver?: 1 },
  key: SigningKey,
): Promise<string> {
  return await signClaims(PLAN_TOKEN, { ver: 1, ...claims }, key);
}

/**
 * Verifies a plan token against pinned keys and for one agent. Never throws. Expiry is not looked at. Valid tokens are
 * remembered by key set, audience and token (the last 1,000, less if they are large), so that no signature is verified twice.
 *
 * @param keys the public keys that may have signed it; one with the token's `kid` has to be among them
 * @param options.audience the agent's id, which `aud` has to equal
 */
export async function openPlanToken(
  token: string,
  keys: readonly PublicKey[],
  options: { readonly audience: string },
): Promise<OpenedToken> {
  try {
    const { audience } = options;
    const known = typeof token === "string" ? remembered.get(token.slice(-SIGNATURE_CHARACTERS)) : undefined;
    if (known && known.token === token && known.pins === printPins(keys, audience)) return known.opened;
    // Read once, so that the keys that verify are the ones that are remembered.
    const pinned = keys.map((key) => publicKeySchema.parse(key));
    const result = await openClaimsFor(PLAN_TOKEN, token, { keys: pinned, audience });
    if (!result.valid) return result;
    const opened = new ValidToken(result.claims);
    remember({ token, pins: printPins(pinned, audience), opened });
    return opened;
  } catch {
    return { valid: false, detail: "it could not be read" };
  }
}

const PLAN_TOKEN: TokenKind<PlanClaims> = {
  type: PLAN_TOKEN_TYPE,
  name: "a plan token",
  claims: planClaimsSchema,
  maxCharacters: MAX_TOKEN_CHARACTERS,
};

const SIGNATURE_CHARACTERS = 86;
const MAX_REMEMBERED = 1000;
const MAX_REMEMBERED_CHARACTERS = 4 * MAX_TOKEN_CHARACTERS;

/** A valid token, with the keys and the audience for which it is valid. */
interface Remembered {
  readonly token: string;
  readonly pins: string;
  readonly opened: ValidToken;
}

/** By the signature: V8 hashes long texts by their length alone, and would compare tokens of one length in full. */
const remembered = new Map<string, Remembered>();
let rememberedCharacters = 0;

function printPins(keys: readonly PublicKey[], audience: string): string {
  return JSON.stringify([audience, keys.map(({ kty, crv, kid, x }) => [kty, crv, kid, x])]);
}

function remember(entry: Remembered): void {
  const signature = entry.token.slice(-SIGNATURE_CHARACTERS);
  rememberedCharacters += entry.token.length - (remembered.get(signature)?.token.length ?? 0);
  remembered.set(signature, entry);
  // A map keeps the order of insertion: its first key is the oldest.
  for (const [oldest, { token }] of remembered) {
    if (remembered.size <= MAX_REMEMBERED && rememberedCharacters <= MAX_REMEMBERED_CHARACTERS) break;
    remembered.delete(oldest);
    rememberedCharacters -= token.length;
  }
}
