import { describe, expect, test } from "vitest";
import {
  type ChosenFilter,
  countFilters,
  fromLocalInput,
  readFilter,
  toDecisionFilter,
  toLocalInput,
  writeFilter,
} from "./decision-filter.ts";

const FROM = Date.UTC(2026, 2, 1, 14, 5);
const TO = Date.UTC(2026, 2, 2);
const NOW = Date.UTC(2026, 10, 30, 12);

function readAddress(address: string): ChosenFilter {
  return readFilter(Object.fromEntries(new URLSearchParams(address)));
}

describe("a filter in the address", () => {
  test.each<[string, ChosenFilter, string]>([
    ["nothing", {}, ""],
    ["an agent", { agentId: "a-1" }, "?agent=a-1"],
    ["a person", { user: "alice@acme.dev" }, "?user=alice@acme.dev"],
    ["a person with a plus", { user: "alice+x@acme.dev" }, "?user=alice%2Bx@acme.dev"],
    ["a range", { range: "week" }, "?range=week"],
    ["from a moment", { range: "custom", from: FROM }, "?range=custom&from=2026-03-01T14:05Z"],
    ["to a moment", { range: "custom", to: TO }, "?range=custom&to=2026-03-02T00:00Z"],
    ["no moment yet", { range: "custom" }, "?range=custom"],
    [
      "all of it",
      { agentId: "a", user: "u@acme.dev", verdict: "block", reason: "not_in_plan", tool: "send_money", range: "hour" },
      "?agent=a&user=u@acme.dev&verdict=block&reason=not_in_plan&tool=send_money&range=hour",
    ],
    [
      "what is hostile",
      { tool: "a&verdict=allow#?\u202e", agentId: "../x" },
      "?agent=..%2Fx&tool=a%26verdict%3Dallow%23%3F%E2%80%AE",
    ],
  ])("%s is read as it was written", (_name, filter, address) => {
    expect(writeFilter(filter)).toBe(address);
    expect(readAddress(address)).toEqual(filter);
  });

  test.each<[string, string]>([
    ["a verdict that is none", "?verdict=maybe"],
    ["a range that is none", "?range=year"],
    ["a range of every object", "?range=constructor"],
    ["moments without their range", "?from=2026-03-01T14:05Z"],
    ["empty fields", "?tool=&user=%20&agent="],
    ["fields that it does not have", "?__proto__=x&toString=y"],
  ])("is nothing for %s", (_name, address) => {
    expect(readAddress(address)).toEqual({});
  });

  test.each(["2026-03-01", "1", "-1", "9999-99-99T99:99Z", "1900-01-01T00:00Z"])("takes no moment of %j", (from) => {
    expect(readAddress(`?range=custom&from=${from}`)).toEqual({ range: "custom" });
  });
});

describe("what the server is asked for", () => {
  test.each<[string, ChosenFilter, object]>([
    ["all", {}, {}],
    ["the last hour", { range: "hour", tool: "t" }, { tool: "t", from: NOW - 3_600_000 }],
    ["30 days", { range: "month" }, { from: NOW - 30 * 86_400_000 }],
    ["a time", { range: "custom", from: FROM, to: TO }, { from: FROM, to: TO }],
    ["an open time", { range: "custom" }, {}],
  ])("%s", (_name, filter, asked) => {
    expect(toDecisionFilter(filter, NOW)).toEqual(asked);
  });
});

test("a time counts as one filter", () => {
  expect(countFilters({ tool: "t", range: "custom", from: FROM, to: TO })).toBe(2);
  expect(countFilters({})).toBe(0);
});

test("a moment stays what it is in a field for local time", () => {
  expect(fromLocalInput(toLocalInput(FROM))).toBe(FROM);
  expect([toLocalInput(undefined), fromLocalInput(""), fromLocalInput("x")]).toEqual(["", undefined, undefined]);
});
