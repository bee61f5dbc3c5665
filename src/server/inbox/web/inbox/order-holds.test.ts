import { describe, expect, test } from "vitest";
import { aHold } from "../../../../../test/inbox-items.ts";
import { findNeighbour, findSuccessor, isOpen, mergeHolds } from "./order-holds.ts";

const [A, B, C] = [1, 2, 3].map((n) => aHold({ holdId: `h${n}`, expiresAt: n * 100 }));
const all = [A!, B!, C!];

describe("holds", () => {
  test("have the oldest deadline first, each once, as it was told last", () => {
    const newer = { ...A!, status: "approved" as const };
    expect(mergeHolds([C!, A!], [B!, newer])).toEqual([newer, B, C]);
  });

  test("of one deadline stay in the order in which they came", () => {
    const twins = ["z", "a", "m"].map((holdId) => aHold({ holdId, expiresAt: 100 }));
    expect(mergeHolds(twins, [C!]).map(({ holdId }) => holdId)).toEqual(["z", "a", "m", "h3"]);
  });

  test.each<[string | undefined, number, string]>([
    ["h1", 1, "h2"],
    ["h3", 1, "h3"],
    ["h1", -1, "h1"],
    [undefined, 1, "h1"],
    ["gone", -1, "h1"],
  ])("from %s, %d places on, is %s", (from, places, expected) => {
    expect(findNeighbour(all, from, places)).toBe(expected);
    expect(findNeighbour([], from, places)).toBeUndefined();
  });

  test("go on with the next that waits, or else with one before", () => {
    const settled = all.map((hold) => ({ ...hold, status: "approved" as const }));
    expect(findSuccessor(all, "h1")).toBe("h2");
    expect(findSuccessor(all, "h3")).toBe("h2");
    expect(findSuccessor([A!, settled[1]!, C!], "h1")).toBe("h3");
    expect(findSuccessor([settled[0]!, settled[1]!, C!], "h3")).toBeUndefined();
    expect(findSuccessor([settled[0]!, B!], "gone")).toBe("h2");
  });

  test("are open until the very second", () => {
    expect([99_999, 100_000].map((now) => isOpen(A!, now))).toEqual([true, false]);
    expect(isOpen({ ...A!, status: "rejected" }, 0)).toBe(false);
  });
});
