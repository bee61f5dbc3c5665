import { generateSigningKey, type PublicKey, type SigningKey } from "../core/index.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Store, StoredSigningKey } from "./store/index.ts";

/** How long the keys are remembered. A rotation publishes a key for longer than that before it signs. */
export const KEYS_REMEMBERED_MS = 5000;

/** The server's keys, as the store has them: read every few seconds, and the first one made when it is needed. */
export function createKeyRing({ store, clock }: { readonly store: Store; readonly clock: () => number }): KeyRing {
  let known: { readonly keys: readonly StoredSigningKey[]; readonly at: number } | undefined;
  let reading: Promise<readonly StoredSigningKey[]> | undefined;

  const read = async (): Promise<readonly StoredSigningKey[]> => {
    const now = clock();
    const keys = await store.signingKeys.published(now);
    if (keys.some(({ signsFrom }) => signsFrom <= now)) {
      known = { keys, at: now };
      return keys;
    }
    // Another server may be first: then its key is the one.
    await store.signingKeys.addFirst({ key: await generateSigningKey(), createdAt: now, signsFrom: now });
    return await store.signingKeys.published(now);
  };

  const list = async (): Promise<readonly StoredSigningKey[]> => {
    const now = clock();
    // A clock that was set back does not make the keys of the future last.
    if (known && now >= known.at && now < known.at + KEYS_REMEMBERED_MS) return known.keys;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return await reading;
  };

  return {
    async signingKey(): Promise<SigningKey> {
      const keys = await list();
      // After the list: the first key signs from the moment that it is made.
      const now = clock();
      const key = keys.findLast(({ signsFrom }) => signsFrom <= now);
      if (!key) throw new Error("No signing key may sign now: each is retired or begins later");
      const { kid, privateKey, publicKey } = key;
      return { kid, privateKey, publicKey };
    },
    async publicKeys(): Promise<readonly PublicKey[]> {
      return (await list()).map(({ publicKey }) => publicKey);
    },
  };
}
