import { expect, onTestFinished, test } from "vitest";
import { createKeyRing, KEYS_REMEMBERED_MS } from "./create-key-ring.ts";
import { openStore, type Store } from "./store/index.ts";

async function aStore(): Promise<Store> {
  const store = await openStore({ sqlite: ":memory:" });
  onTestFinished(() => store.close());
  return store;
}

test("makes the first key when it is needed, also while the time goes on", async () => {
  const store = await aStore();
  let now = 1_800_000_000_000;
  const ring = createKeyRing({ store, clock: () => now++ });
  const [one, two] = await Promise.all([ring.signingKey(), ring.signingKey(), ring.publicKeys()]);
  expect(one.kid).toBe(two.kid);
  expect((await ring.publicKeys()).map(({ kid }) => kid)).toEqual([one.kid]);
});

test("two rings of one store have one first key", async () => {
  const store = await aStore();
  const rings = [1, 2, 3].map(() => createKeyRing({ store, clock: Date.now }));
  const keys = await Promise.all(rings.map((ring) => ring.signingKey()));
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
});

test("learns of a new key in time, and is told when none may sign", async () => {
  const store = await aStore();
  let now = 1_800_000_000_000;
  const ring = createKeyRing({ store, clock: () => now });
  const { kid } = await ring.signingKey();
  await store.signingKeys.retire(kid, now + 1);
  now += KEYS_REMEMBERED_MS;
  // Nobody but an administrator makes another key: a database without one that counts is not a new one.
  await expect(ring.signingKey()).rejects.toThrow("No signing key may sign now");
});
