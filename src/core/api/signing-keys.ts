import { z } from "zod";
import { type PublicKey, publicKeySchema } from "../signing-key.ts";
import type { Endpoint } from "./endpoint.ts";
import { momentSchema } from "./values.ts";

/** The keys that verify the server's tokens (RFC 7517). A gate pins them over its base URL. */
export interface KeySetAnswer {
  readonly keys: readonly PublicKey[];
}

/** `active` signs; `retiring` does not any more, and what it has signed still counts; `retired` is in no key set. */
export type SigningKeyStatus = "active" | "retiring" | "retired";

export interface SigningKeyAnswer {
  readonly kid: string;
  readonly status: SigningKeyStatus;
  readonly createdAt: number;
  /** When it stops being in the key set; of a retiring key. */
  readonly retiresAt?: number;
}

export interface SigningKeysAnswer {
  readonly keys: readonly SigningKeyAnswer[];
}

/** Passes over the other members of a key, like `use`, and over no key: one that is none is not to be trusted in part. */
export const keySetAnswerSchema: z.ZodType<KeySetAnswer> = z.object({ keys: z.array(publicKeySchema).max(100) });

export const signingKeyAnswerSchema: z.ZodType<SigningKeyAnswer> = z.object({
  kid: z.string().min(1).max(200),
  status: z.enum(["active", "retiring", "retired"]),
  createdAt: momentSchema,
  retiresAt: momentSchema.exactOptional(),
});

/** The server's keys. */
export const signingKeyEndpoints: {
  readonly getKeySet: Endpoint<undefined, KeySetAnswer>;
  readonly listSigningKeys: Endpoint<undefined, SigningKeysAnswer>;
  readonly rotateSigningKey: Endpoint<undefined, SigningKeyAnswer>;
} = {
  getKeySet: {
    method: "GET",
    path: "/.well-known/jwks.json",
    summary: "The public keys that verify the server's tokens",
    auth: ["none"],
    answers: { 200: keySetAnswerSchema },
  },
  listSigningKeys: {
    method: "GET",
    path: "/v1/signing-keys",
    summary: "The signing keys, without their private halves",
    auth: ["admin"],
    answers: { 200: z.object({ keys: z.array(signingKeyAnswerSchema) }) },
  },
  rotateSigningKey: {
    method: "POST",
    path: "/v1/signing-keys/rotate",
    summary: "Makes a new signing key; the old one is retired once nothing that it has signed counts any more",
    auth: ["admin"],
    answers: { 201: signingKeyAnswerSchema },
  },
};
