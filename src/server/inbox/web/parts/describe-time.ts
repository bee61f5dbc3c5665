const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How much of a deadline is left: `4:32`, `2 h 05 min`, `3 d 4 h`. */
export interface TimeLeft {
  readonly words: string;
  readonly urgency: "over" | "urgent" | "soon" | "calm";
}

export function describeTimeLeft(milliseconds: number): TimeLeft {
  if (milliseconds <= 0) return { words: "Time is up", urgency: "over" };
  return { words: printDuration(milliseconds), urgency: urgencyOf(milliseconds) };
}

function urgencyOf(milliseconds: number): TimeLeft["urgency"] {
  if (milliseconds < MINUTE) return "urgent";
  return milliseconds < 5 * MINUTE ? "soon" : "calm";
}

/** Rounded up to a second, so that what is left is never told as nothing. */
export function printDuration(milliseconds: number): string {
  const rounded = Math.ceil(milliseconds / SECOND) * SECOND;
  const part = (unit: number, of: number): number => Math.floor((rounded % of) / unit);
  if (rounded >= DAY) return `${Math.floor(rounded / DAY)} d ${part(HOUR, DAY)} h`;
  if (rounded >= HOUR) return `${Math.floor(rounded / HOUR)} h ${twoDigits(part(MINUTE, HOUR))} min`;
  return `${Math.floor(rounded / MINUTE)}:${twoDigits(part(SECOND, MINUTE))}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** `just now`, `3 min. ago`, `yesterday`, `in 2 hr.`. */
export function describeMoment(at: number, now: number): string {
  const difference = at - now;
  const size = Math.abs(difference);
  if (size < 10 * SECOND) return "just now";
  if (size < MINUTE) return relative.format(Math.trunc(difference / SECOND), "second");
  if (size < HOUR) return relative.format(Math.trunc(difference / MINUTE), "minute");
  if (size < DAY) return relative.format(Math.trunc(difference / HOUR), "hour");
  return relative.format(Math.trunc(difference / DAY), "day");
}

/** In the person's time zone, to the second, in a form that is the same everywhere: `2026-03-01 14:05:09`. */
export function printMoment(at: number): string {
  const date = new Date(at);
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":")}`;
}
