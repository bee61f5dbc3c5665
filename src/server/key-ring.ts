import type { PublicKey, SigningKey } from "../core/index.ts";

/** The keys with which the server signs, and those that verify what it has signed. */
export interface KeyRing {
  /** The key that signs now; the first is made when it is needed, once for all servers of a store. */
  signingKey(): Promise<SigningKey>;
  /** Every key that may have signed what still counts, and those that will sign soon. */
  publicKeys(): Promise<readonly PublicKey[]>;
}
