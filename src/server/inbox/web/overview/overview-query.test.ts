import { describe, expect, test } from "vitest";
import { type ChosenOverview, readOverview, toHistory, writeOverview } from "./overview-query.ts";

describe("what is chosen", () => {
  test.each<[ChosenOverview, string]>([
    [{ hours: 24 }, "/overview"],
    [{ hours: 168 }, "/overview?hours=168"],
    [{ hours: 720, agentId: "a&b" }, "/overview?hours=720&agent=a%26b"],
  ])("is in the address: %j", (chosen, address) => {
    expect(writeOverview(chosen)).toBe(address);
    const query = Object.fromEntries(new URL(address, "http://inbox").searchParams);
    expect(readOverview(query)).toEqual(chosen);
  });

  test.each([{ hours: "5" }, { hours: "constructor" }, { agent: " " }, { toString: "x" } as never])(
    "is a day of all agents for %j",
    (query) => {
      expect(readOverview(query)).toEqual({ hours: 24 });
    },
  );

  test("leads to the decisions of the same time and agent", () => {
    expect(toHistory({ hours: 720, agentId: "a" }, { tool: "t" })).toEqual({ agentId: "a", tool: "t", range: "month" });
    expect(toHistory({ hours: 24 }, {})).toEqual({ range: "day" });
  });
});
