import { expect, test } from "vitest";
import { readSettings, type SettingsForm, toSettingsForm } from "./read-settings.ts";

const EMPTY = toSettingsForm();

test("what is empty is left to the server", () => {
  expect(readSettings(EMPTY)).toEqual({ settings: {} });
});

test("reading undoes printing", () => {
  const settings = {
    planTtlSeconds: 60,
    planMaxAgeSeconds: 3600,
    maxHolds: 0,
    approvePlans: true,
    budget: { session: { calls: 3 } },
  };
  expect(readSettings(toSettingsForm(settings))).toEqual({ settings });
});

test.each<[string, Partial<SettingsForm>, string]>([
  ["a fraction", { planTtlSeconds: "1.5" }, "settings.planTtlSeconds"],
  ["nothing at all", { planTtlSeconds: "0" }, "settings.planTtlSeconds"],
  ["more than a year", { planMaxAgeSeconds: "31536001" }, "settings.planMaxAgeSeconds"],
  ["less than none", { maxHolds: "-1" }, "settings.maxHolds"],
  ["an exponent", { maxHolds: "1e2" }, "settings.maxHolds"],
  ["what is no JSON", { budget: "{session" }, "settings.budget"],
  ["what is no object", { budget: "[1]" }, "settings.budget"],
  ["null", { budget: "null" }, "settings.budget"],
])("refuses %s at its field", (_name, over, path) => {
  expect(readSettings({ ...EMPTY, ...over }).issues?.map((issue) => issue.path)).toEqual([path]);
});
