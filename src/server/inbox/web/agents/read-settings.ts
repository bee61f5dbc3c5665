import type { AgentSettings } from "../../../../core/api/agents.ts";
import type { Budget } from "../../../../core/budget.ts";
import type { Issue } from "../../../../core/errors.ts";
import { readJson } from "../parts/read-json.ts";

/** The settings of an agent as they are in a form. */
export interface SettingsForm {
  readonly planTtlSeconds: string;
  readonly planMaxAgeSeconds: string;
  readonly maxHolds: string;
  readonly approvePlans: boolean;
  /** JSON. */
  readonly budget: string;
}

export type ReadSettings =
  | { readonly settings: AgentSettings; readonly issues?: undefined }
  | { readonly settings?: undefined; readonly issues: readonly Issue[] };

const MOST_SECONDS = 31_536_000;
const NUMBERS = [
  ["planTtlSeconds", 1, MOST_SECONDS],
  ["planMaxAgeSeconds", 1, MOST_SECONDS],
  ["maxHolds", 0, 1000],
] as const;

export function toSettingsForm(settings: AgentSettings = {}): SettingsForm {
  const { planTtlSeconds = "", planMaxAgeSeconds = "", maxHolds = "", approvePlans = false, budget } = settings;
  return {
    planTtlSeconds: String(planTtlSeconds),
    planMaxAgeSeconds: String(planMaxAgeSeconds),
    maxHolds: String(maxHolds),
    approvePlans,
    budget: budget ? JSON.stringify(budget, undefined, 2) : "",
  };
}

/** Reads the form; what is empty is left to the server. What a budget has to be like, the server says. */
export function readSettings(form: SettingsForm): ReadSettings {
  const issues: Issue[] = [];
  const numbers = NUMBERS.flatMap(([field, least, most]) => {
    const text = form[field].trim();
    if (text === "") return [];
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return [[field, value] as const];
    const message = `Write a whole number from ${least} to ${most.toLocaleString("en")}, or nothing.`;
    issues.push({ path: `settings.${field}`, message });
    return [];
  });
  let budget: Budget | undefined;
  try {
    budget = readBudget(form.budget);
  } catch (error) {
    issues.push({ path: "settings.budget", message: (error as Error).message });
  }
  if (issues.length > 0) return { issues };
  return {
    settings: {
      ...Object.fromEntries(numbers),
      ...(form.approvePlans && { approvePlans: true }),
      ...(budget && { budget }),
    },
  };
}

function readBudget(text: string): Budget | undefined {
  if (text.trim() === "") return undefined;
  const value: unknown = readJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error("A budget is a JSON object, as in the example.");
}
