import { expect, test } from "vitest";
import { AGENT_DEFAULTS } from "../../../plans/agent-defaults.ts";
import { describeBudget, describeSettings, printSeconds, SETTINGS_UNLESS_TOLD } from "./describe-settings.ts";

test.each<[number, string]>([
  [0, "0 seconds"],
  [1, "1 second"],
  [900, "15 minutes"],
  [3661, "1 hour 1 minute 1 second"],
  [93_600, "1 day 2 hours"],
])("%i seconds are %s", (seconds, words) => {
  expect(printSeconds(seconds)).toBe(words);
});

test.each([
  ["none", undefined, "no limits"],
  ["of a plan", { session: { calls: 1000 } }, "1,000 calls for a plan"],
  [
    "of a person",
    { principal: { calls: 5, payoutMicros: 2_500_000, windowSeconds: 3600 } },
    "5 calls and $2.50 for a person in 1 hour",
  ],
])("a budget: %s", (_name, budget, words) => {
  expect(describeBudget(budget)).toBe(words);
});

test("what nobody has set is as the server has it", () => {
  expect(SETTINGS_UNLESS_TOLD).toEqual(AGENT_DEFAULTS);
  expect(describeSettings({ maxHolds: 3 }).map(({ isDefault }) => isDefault)).toEqual([true, true, false, true, true]);
  expect(describeSettings({ maxHolds: 3 })[2]?.words).toBe("at most 3");
});
