import { CompactSign, compactVerify, errors } from "jose";
import { MAX_CLAIMS_BYTES, MAX_TOKEN_CHARACTERS, type PlanClaims, planClaimsSchema } from "./claims.ts";
import { type CompiledToken, compileToken } from "./compile-token.ts";
import { IntentlockError } from "./errors.ts";
import { parseJson } from "./parse-json.ts";
import { parseChecked } from "./schema.ts";
import { type PublicKey, publicKeySchema, type SigningKey, signingKeySchema } from "./signing-key.ts";

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
  const { kid, privateKey } = parseSigningKey(key);
  const payload = new TextEncoder().encode(JSON.stringify(parseClaims({ ver: 1, ...claims })));
  try {
    return await new CompactSign(payload)
      .setProtectedHeader({ alg: "EdDSA", typ: PLAN_TOKEN_TYPE, kid })
      .sign({ ...privateKey, alg: "EdDSA" });
  } catch {
    // Its `d` does not belong to its `x`. No cause: it might quote the key.
    throw invalidKey();
  }
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
    if (typeof token !== "string" || token.length > MAX_TOKEN_CHARACTERS || !TOKEN_TEXT.test(token)) {
      return invalid("it is not the text of a token");
    }
    const pinned = keys.map((key) => publicKeySchema.parse(key));
    const opened = await verify(token, pinned, audience);
    if (opened.valid) remember({ token, pins: printPins(pinned, audience), opened });
    return opened;
  } catch {
    return invalid("it could not be read");
  }
}

async function verify(token: string, keys: readonly PublicKey[], audience: string): Promise<ValidToken | InvalidToken> {
  let verified: Awaited<ReturnType<typeof compactVerify>>;
  try {
    verified = await compactVerify(
      token,
      ({ kid }) => {
        const key = keys.find((candidate) => candidate.kid === kid);
        if (!key) throw new errors.JWKSNoMatchingKey();
        return { ...key, alg: "EdDSA" };
      },
      { algorithms: ["EdDSA"] },
    );
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return invalid("no pinned key has its key id");
    return invalid("its signature does not verify");
  }
  const { alg: _alg, kid: _kid, typ, ...more } = verified.protectedHeader;
  if (typ !== PLAN_TOKEN_TYPE) return invalid(`its type is not ${PLAN_TOKEN_TYPE}`);
  if (Object.keys(more).length > 0) return invalid("its header has more than alg, typ and kid");
  let claims: PlanClaims;
  try {
    claims = parseClaims(
      parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(verified.payload)),
    );
  } catch {
    return invalid("its claims are not those of a plan token of a known version");
  }
  if (claims.aud !== audience) return invalid("it was signed for another agent");
  return new ValidToken(claims);
}

function parseClaims(value: unknown): PlanClaims {
  return parseChecked(planClaimsSchema, value, {
    code: "ERR_INVALID_CLAIMS",
    what: "The claims are",
    maxBytes: MAX_CLAIMS_BYTES,
  });
}

/** @throws IntentlockError `ERR_INVALID_KEY`, saying nothing of the key */
export function parseSigningKey(key: SigningKey): SigningKey {
  const result = signingKeySchema.safeParse(key);
  if (result.success) return result.data;
  throw invalidKey();
}

function invalidKey(): IntentlockError {
  return new IntentlockError("ERR_INVALID_KEY", "The signing key is not one that generateSigningKey() made");
}

function invalid(detail: string): InvalidToken {
  return { valid: false, detail };
}

/**
 * The one way to write a token: decoders forgive white space, padding and the unused bits of the signature's last
 * character, and so would take many texts for the same token.
 */
const TOKEN_TEXT = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

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
