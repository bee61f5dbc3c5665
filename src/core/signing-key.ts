import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import { z } from "zod";
import { IntentlockError } from "./errors.ts";
import { closedObject } from "./schema.ts";

/** An Ed25519 public key as a JWK (RFC 8037), safe to publish and to pin. */
export interface PublicKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** The key's id: its JWK thumbprint (RFC 7638), if {@link generateSigningKey} made it. */
  readonly kid: string;
  /** 32 bytes in base64url. */
  readonly x: string;
}

/** An Ed25519 private key as a JWK. Whoever has it can sign plans. */
export interface PrivateKey extends PublicKey {
  /** 32 bytes in base64url. */
  readonly d: string;
}

/** A key pair that signs plan tokens. All of it is plain JSON. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: PrivateKey;
  /** What `openPlanToken` takes in its list of keys. */
  readonly publicKey: PublicKey;
}

const bytes32 = z.base64url().length(43);

const publicKeyFields = {
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  kid: z.string().min(1).max(200),
  x: bytes32,
};

/** Passes over other fields: keys in a key set have some, like `use`. */
export const publicKeySchema: z.ZodType<PublicKey> = z.object(publicKeyFields);

/** A key inside a token has no other field, least of all a private `d`. */
export const boundKeySchema: z.ZodType<PublicKey> = closedObject(publicKeyFields);

export const signingKeySchema: z.ZodType<SigningKey> = z
  .object({
    kid: z.string(),
    privateKey: z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), kid: z.string(), x: bytes32, d: bytes32 }),
    publicKey: publicKeySchema,
  })
  .refine(
    ({ kid, privateKey, publicKey }) => kid === publicKey.kid && kid === privateKey.kid && publicKey.x === privateKey.x,
  );

/** A copy of a signing key. @throws IntentlockError `ERR_INVALID_KEY`, saying nothing of the key */
export function parseSigningKey(key: SigningKey): SigningKey {
  const result = signingKeySchema.safeParse(key);
  if (result.success) return result.data;
  throw invalidKey();
}

/** Quotes nothing of the key. */
export function invalidKey(): IntentlockError {
  return new IntentlockError("ERR_INVALID_KEY", "The signing key is not one that generateSigningKey() made");
}

/** Makes a new Ed25519 key pair; its `kid` is the thumbprint of the public key. */
export async function generateSigningKey(): Promise<SigningKey> {
  const pair = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const { x, d } = (await exportJWK(pair.privateKey)) as { x: string; d: string };
  const kid = await calculateJwkThumbprint({ kty: "OKP", crv: "Ed25519", x });
  const publicKey: PublicKey = Object.freeze({ kty: "OKP", crv: "Ed25519", kid, x });
  return Object.freeze({ kid, publicKey, privateKey: Object.freeze({ ...publicKey, d }) });
}
