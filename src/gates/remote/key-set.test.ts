import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { KEY } from "../../../test/builders.ts";
import { endpoints } from "../../core/api/index.ts";
import { generateSigningKey, type PublicKey } from "../../core/index.ts";
import { KeySet } from "./key-set.ts";
import type { ServerClient } from "./server-client.ts";

const NEXT = (await generateSigningKey()).publicKey;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** Keys of a server that has published these lists, one after the other. */
function aKeySet(published: readonly (readonly PublicKey[])[], pinned?: readonly PublicKey[]) {
  const ask = vi.fn(async (_endpoint: unknown, _ask: unknown) => {
    return { keys: published[Math.min(ask.mock.calls.length, published.length) - 1] };
  });
  const keys = new KeySet({ ask } as unknown as ServerClient, pinned);
  const tried: (readonly PublicKey[])[] = [];
  /** Opens a token that this key has signed. */
  const open = async (key: PublicKey): Promise<boolean> => {
    const opened = await keys.open(async (known) => {
      tried.push(known);
      return { valid: known.includes(key) };
    });
    return opened.valid;
  };
  return { open, ask, tried };
}

describe("the keys that the server publishes", () => {
  test("are asked for when the first token comes, and then known", async () => {
    const { open, ask, tried } = aKeySet([[KEY.publicKey]]);
    expect([await open(KEY.publicKey), await open(KEY.publicKey)]).toEqual([true, true]);
    expect(ask.mock.calls).toEqual([[endpoints.getKeySet, { isRepeatable: true }]]);
    expect(tried).toHaveLength(2);
  });

  test("are asked for again when a token comes that none of them verifies: they are rotated", async () => {
    const { open, ask } = aKeySet([[KEY.publicKey], [KEY.publicKey, NEXT]]);
    await open(KEY.publicKey);
    vi.advanceTimersByTime(10_000);
    expect(await open(NEXT)).toBe(true);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test("are not asked for more often than every ten seconds, however many such tokens come", async () => {
    const { open, ask } = aKeySet([[KEY.publicKey], [KEY.publicKey, NEXT]]);
    await open(KEY.publicKey);
    vi.advanceTimersByTime(9999);
    expect([await open(NEXT), await open(NEXT)]).toEqual([false, false]);
    expect(ask).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    expect(await open(NEXT)).toBe(true);
    vi.advanceTimersByTime(9999);
    await open({ ...NEXT });
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test("are asked for once by tokens that come at the same time", async () => {
    const { open, ask } = aKeySet([[KEY.publicKey]]);
    expect(await Promise.all([open(KEY.publicKey), open(KEY.publicKey), open(NEXT)])).toEqual([true, true, false]);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  test("are asked for again after the server could not be asked", async () => {
    const { open, ask } = aKeySet([[KEY.publicKey]]);
    ask.mockRejectedValueOnce(new Error("down"));
    await expect(open(KEY.publicKey)).rejects.toThrow("down");
    expect(await open(KEY.publicKey)).toBe(true);
  });

  test("are asked for while there are none", async () => {
    const { open, ask } = aKeySet([[], [KEY.publicKey]]);
    expect(await open(KEY.publicKey)).toBe(false);
    expect(await open(KEY.publicKey)).toBe(true);
    expect(ask).toHaveBeenCalledTimes(2);
  });
});

describe("keys that are pinned", () => {
  test("are all there are: the server is not asked for others", async () => {
    const { open, ask } = aKeySet([[NEXT]], [KEY.publicKey]);
    expect([await open(KEY.publicKey), await open(NEXT)]).toEqual([true, false]);
    vi.advanceTimersByTime(60_000);
    expect(await open(NEXT)).toBe(false);
    expect(ask).not.toHaveBeenCalled();
  });
});
