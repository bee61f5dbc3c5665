import fc from "fast-check";
import { expect, test } from "vitest";
import { RecentlyUsed } from "./recently-used.ts";

function keysOf(kept: RecentlyUsed<string>, keys: string): string {
  const found: string[] = [];
  kept.deleteWhere((value) => {
    found.push(value);
    return false;
  });
  return found.filter((key) => keys.includes(key)).join("");
}

test("what was not used for longest makes room", () => {
  const kept = new RecentlyUsed<string>({ maxEntries: 2, maxWeight: 100 });
  kept.set("a", "a", 1);
  kept.set("b", "b", 1);
  expect(kept.get("a")).toBe("a");
  kept.set("c", "c", 1);
  expect(keysOf(kept, "abc")).toBe("ac");
  expect(kept.get("b")).toBeUndefined();
});

test("also by weight, and what is too heavy for all of it is not kept", () => {
  const kept = new RecentlyUsed<string>({ maxEntries: 9, maxWeight: 10 });
  kept.set("a", "a", 4);
  kept.set("b", "b", 4);
  kept.set("c", "c", 6);
  expect([keysOf(kept, "abc"), kept.weight]).toEqual(["bc", 10]);
  kept.set("b", "b", 11);
  expect([keysOf(kept, "abc"), kept.weight]).toEqual(["c", 6]);
});

test("what is over is deleted", () => {
  const kept = new RecentlyUsed<string>({ maxEntries: 9, maxWeight: 10 });
  for (const key of "abc") kept.set(key, key, 2);
  kept.deleteWhere((value) => value !== "b");
  expect([keysOf(kept, "abc"), kept.weight, kept.size]).toEqual(["b", 2, 1]);
});

const step = fc.record({ key: fc.constantFrom("a", "b", "c", "d"), weight: fc.nat(12), isGet: fc.boolean() });

test("is never more than it may be, whatever comes in", () => {
  fc.assert(fc.property(fc.array(step), check));
});

function check(steps: readonly { readonly key: string; readonly weight: number; readonly isGet: boolean }[]): void {
  const kept = new RecentlyUsed<number>({ maxEntries: 3, maxWeight: 10 });
  for (const { key, weight, isGet } of steps) {
    if (isGet) kept.get(key);
    else kept.set(key, weight, weight);
    let sum = 0;
    kept.deleteWhere((value) => {
      sum += value;
      return false;
    });
    expect(kept.weight).toBe(sum);
    expect(sum).toBeLessThanOrEqual(10);
    expect(kept.size).toBeLessThanOrEqual(3);
  }
}
