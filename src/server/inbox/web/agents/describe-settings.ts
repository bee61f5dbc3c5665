import type { AgentSettings } from "../../../../core/api/agents.ts";
import type { Budget, BudgetLimit } from "../../../../core/budget.ts";

export interface SettingInWords {
  readonly name: string;
  readonly words: string;
  /** Nobody has set it. */
  readonly isDefault: boolean;
}

/** What the server does where an agent's settings say nothing. */
export const SETTINGS_UNLESS_TOLD = { planTtlSeconds: 900, planMaxAgeSeconds: 86_400, maxHolds: 20 } as const;

/** The settings of an agent to read. */
export function describeSettings(settings: AgentSettings): readonly SettingInWords[] {
  const { planTtlSeconds, planMaxAgeSeconds, maxHolds } = { ...SETTINGS_UNLESS_TOLD, ...settings };
  const row = (field: keyof AgentSettings, name: string, words: string): SettingInWords => ({
    name,
    words,
    isDefault: settings[field] === undefined,
  });
  return [
    row("planTtlSeconds", "A token is valid for", printSeconds(planTtlSeconds)),
    row("planMaxAgeSeconds", "A plan can be renewed for", printSeconds(planMaxAgeSeconds)),
    row("maxHolds", "Holds of a plan", `at most ${number.format(maxHolds)}`),
    row("approvePlans", "Plans", settings.approvePlans === true ? "each is held for a person" : "held if asked for"),
    row("budget", "Budget", describeBudget(settings.budget)),
  ];
}

const number = new Intl.NumberFormat("en");
const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** `15 minutes`, `1 day 2 hours`. */
export function printSeconds(seconds: number): string {
  let left = seconds;
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" }).format(count)];
  });
  return parts.length === 0 ? "0 seconds" : parts.join(" ");
}

export function describeBudget(budget: Budget | undefined): string {
  const parts = [
    budget?.session && `${describeLimit(budget.session)} for a plan`,
    budget?.principal &&
      `${describeLimit(budget.principal)} for a person in ${printSeconds(budget.principal.windowSeconds)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? "no limits" : parts.join(", ");
}

function describeLimit({ calls, payoutMicros }: BudgetLimit): string {
  const parts = [
    calls !== undefined && `${number.format(calls)} calls`,
    payoutMicros !== undefined && dollars.format(payoutMicros / 1_000_000),
  ].filter((part) => part !== false);
  return parts.length === 0 ? "no limit" : parts.join(" and ");
}
