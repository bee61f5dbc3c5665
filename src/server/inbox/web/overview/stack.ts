import type { OverviewAnswer, OverviewCounts } from "../../../../core/api/history.ts";

/** The verdicts from the ground up. */
export const VERDICTS: readonly (keyof OverviewCounts)[] = ["allow", "hold", "block"];

/** Bars that stand on each other: by verdict, for each part where they begin and end. */
export interface Stack {
  /** When each part begins, in seconds. */
  readonly at: number[];
  readonly bottoms: number[][];
  /** Null: there is no bar. */
  readonly tops: (number | null)[][];
}

export function stackParts(parts: OverviewAnswer["parts"]): Stack {
  const bottoms = VERDICTS.map((_, index) => parts.map((part) => sumUp(part, VERDICTS.slice(0, index))));
  return {
    at: parts.map(({ at }) => at / 1000),
    bottoms,
    tops: VERDICTS.map((verdict, index) =>
      parts.map((part, at) => (part[verdict] === 0 ? null : (bottoms[index]?.[at] ?? 0) + part[verdict])),
    ),
  };
}

export function sumParts(parts: readonly OverviewCounts[]): OverviewCounts {
  const sum = (verdict: keyof OverviewCounts): number => parts.reduce((total, part) => total + part[verdict], 0);
  return { allow: sum("allow"), hold: sum("hold"), block: sum("block") };
}

export function totalOf({ allow, hold, block }: OverviewCounts): number {
  return allow + hold + block;
}

function sumUp(counts: OverviewCounts, verdicts: readonly (keyof OverviewCounts)[]): number {
  return verdicts.reduce((sum, verdict) => sum + counts[verdict], 0);
}

const DAY = 86_400_000;
const ofDay = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short" });
const ofDate = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const ofMinute = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** When a part is: `Mon, Nov 30, 14:00–15:00`, or the day. */
export function describePart(at: number, partMs: number): string {
  const day = ofDay.format(at);
  if (partMs < DAY) return `${day}, ${ofMinute.format(at)}–${ofMinute.format(at + partMs)}`;
  return partMs === DAY ? day : `${day} – ${ofDay.format(at + partMs - 1)}`;
}

/** A place on the axis of time: the day where one begins, or else the hour. */
export function describeTick(at: number, stepMs: number): string {
  const date = new Date(at);
  const isDay = stepMs >= DAY || (date.getHours() === 0 && date.getMinutes() === 0);
  return isDay ? ofDate.format(at) : ofMinute.format(at);
}
