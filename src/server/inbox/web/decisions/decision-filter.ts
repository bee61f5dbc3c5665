import type { DecisionFilter } from "../../../../core/api/history.ts";
import type { Decision } from "../../../../core/verdict.ts";

const HOUR = 3_600_000;

/** A range that goes with the time, or `custom`: from one moment to another, each of which may be open. */
export type Range = "hour" | "day" | "week" | "month" | "custom";

/** How far back each range goes, in milliseconds. */
const RANGE_LENGTHS: Readonly<Record<Exclude<Range, "custom">, number>> = {
  hour: HOUR,
  day: 24 * HOUR,
  week: 7 * 24 * HOUR,
  month: 30 * 24 * HOUR,
};

/** What somebody chose to see, as it is in the address. */
export interface ChosenFilter extends Omit<DecisionFilter, "from" | "to"> {
  readonly range?: Range;
  /** Of the range `custom`, in milliseconds since the epoch. */
  readonly from?: number;
  readonly to?: number;
}

const VERDICTS: readonly string[] = ["allow", "hold", "block"] satisfies readonly Decision["verdict"][];
const RANGES: readonly string[] = [...Object.keys(RANGE_LENGTHS), "custom"];
/** To the minute: `2026-03-01T14:05Z`. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/;

/** What an address asks for. What it cannot mean is left out. */
export function readFilter(query: Readonly<Record<string, string>>): ChosenFilter {
  const get = (name: string): string | undefined => query[name]?.trim() || undefined;
  const [agentId, user, tool, reason] = [get("agent"), get("user"), get("tool"), get("reason")];
  const verdict = oneOf(VERDICTS, get("verdict")) as Decision["verdict"] | undefined;
  const range = oneOf(RANGES, get("range")) as Range | undefined;
  const [from, to] = range === "custom" ? [readMoment(get("from")), readMoment(get("to"))] : [];
  return dropMissing({ agentId, user, verdict, reason, tool, range, from, to });
}

/** The query of an address: with `?`, or empty. */
export function writeFilter(filter: ChosenFilter): string {
  const { agentId, range, from, to, ...rest } = filter;
  const isCustom = range === "custom";
  const query = dropMissing({
    agent: agentId,
    user: rest.user,
    verdict: rest.verdict,
    reason: rest.reason,
    tool: rest.tool,
    range,
    from: isCustom ? writeMoment(from) : undefined,
    to: isCustom ? writeMoment(to) : undefined,
  });
  const text = new URLSearchParams(query as Record<string, string>).toString();
  // They may stand in a query as they are, and are read more easily.
  return text === "" ? "" : `?${text.replaceAll("%3A", ":").replaceAll("%40", "@")}`;
}

/** What the server is asked for: a range that goes with the time ends now. */
export function toDecisionFilter({ range, from, to, ...filter }: ChosenFilter, now: number): DecisionFilter {
  if (range === undefined) return filter;
  if (range === "custom") return { ...filter, ...dropMissing({ from, to }) };
  return { ...filter, from: now - RANGE_LENGTHS[range] };
}

/** How many things are asked for. */
export function countFilters({ from: _, to: __, ...filter }: ChosenFilter): number {
  return Object.keys(filter).length;
}

/** A moment as a field for date and time has it: in the person's time zone. */
export function toLocalInput(at: number | undefined): string {
  if (at === undefined) return "";
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function fromLocalInput(text: string): number | undefined {
  const at = text === "" ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(at) || at < 0 ? undefined : at;
}

function oneOf(values: readonly string[], value: string | undefined): string | undefined {
  return value !== undefined && values.includes(value) ? value : undefined;
}

function readMoment(text: string | undefined): number | undefined {
  const at = text !== undefined && MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) || at < 0 ? undefined : at;
}

function writeMoment(at: number | undefined): string | undefined {
  return at === undefined ? undefined : `${new Date(at).toISOString().slice(0, 16)}Z`;
}

/** Without what is undefined or empty. */
function dropMissing<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(given) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}
