import type { OverviewQuery } from "../../../../core/api/history.ts";
import type { ChosenFilter, Range } from "../decisions/decision-filter.ts";

/** A time that one can look back. */
export interface OverviewRange {
  readonly hours: number;
  readonly name: string;
  /** The same in the history. */
  readonly range: Range;
}

const DAY: OverviewRange = { hours: 24, name: "24 hours", range: "day" };

export const RANGES: readonly OverviewRange[] = [
  DAY,
  { hours: 168, name: "7 days", range: "week" },
  { hours: 720, name: "30 days", range: "month" },
];

export interface ChosenOverview extends OverviewQuery {
  readonly hours: number;
}

/** What an address asks for: a day, unless it is one of the other times. */
export function readOverview(query: Readonly<Record<string, string>>): ChosenOverview {
  const found = RANGES.find(({ hours }) => String(hours) === query["hours"]);
  const agentId = Object.hasOwn(query, "agent") ? query["agent"]?.trim() : "";
  return { hours: (found ?? DAY).hours, ...(agentId && { agentId }) };
}

export function writeOverview({ hours, agentId }: ChosenOverview): string {
  const query = {
    ...(hours !== DAY.hours && { hours: String(hours) }),
    ...(agentId !== undefined && { agent: agentId }),
  };
  const text = new URLSearchParams(query).toString();
  return text === "" ? "/overview" : `/overview?${text}`;
}

/** The decisions of the same time and agent, in the history. */
export function toHistory({ hours, agentId }: ChosenOverview, filter: ChosenFilter): ChosenFilter {
  const { range } = RANGES.find((one) => one.hours === hours) ?? DAY;
  return { ...(agentId !== undefined && { agentId }), ...filter, range };
}
