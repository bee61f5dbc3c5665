import type { PolicyTestRow, TestPolicyAnswer, VerdictSummary } from "../../../../core/api/policies.ts";

type Verdict = VerdictSummary["verdict"];

/** How a call would come out: let through more, let through less, or decided by something else. */
export type Change = "looser" | "stricter" | "other" | "new" | "none";

const STRICTNESS: Readonly<Record<Verdict, number>> = { allow: 0, hold: 1, block: 2 };
/** What lets more through has to be seen first. */
const ORDER: readonly Change[] = ["looser", "stricter", "other", "new", "none"];

export function findChange({ before, after, changed }: PolicyTestRow): Change {
  if (!changed) return "none";
  if (before === null) return "new";
  const step = STRICTNESS[after.verdict] - STRICTNESS[before.verdict];
  if (step === 0) return "other";
  return step < 0 ? "looser" : "stricter";
}

/** Sample calls, which somebody is trying right now, then the rows that change; otherwise in the order in which they came. */
export function sortRows(rows: readonly PolicyTestRow[]): readonly PolicyTestRow[] {
  const place = (row: PolicyTestRow): number => (isReplayed(row) ? ORDER.length : 0) + ORDER.indexOf(findChange(row));
  return rows.toSorted((a, b) => place(a) - place(b));
}

/** A row is of a decision that was made again, or of a sample call. */
export function isReplayed({ planId }: PolicyTestRow): boolean {
  return planId !== undefined;
}

/** What a policy would change, in sentences. */
export function describeChanges({ rows, notRecomputable }: TestPolicyAnswer): string {
  const replayed = rows.filter(isReplayed);
  const samples = rows.filter((row) => !isReplayed(row));
  return [
    describeRows(replayed, "decision"),
    describeRows(samples, "sample call"),
    describeRest(notRecomputable),
    replayed.length + samples.length + notRecomputable === 0 && "There is no decision of this agent to try it on yet.",
  ]
    .filter(Boolean)
    .join(" ");
}

/** `3 of 50 decisions would change: 2 allow → hold, 1 by another rule.` */
function describeRows(rows: readonly PolicyTestRow[], what: string): string {
  if (rows.length === 0) return "";
  const changes = rows.filter(({ changed }) => changed);
  const whole = countThings(rows.length, what);
  if (changes.length === 0)
    return rows.length === 1 ? `The one ${what} would not change.` : `None of ${whole} would change.`;
  if (changes.every(({ before }) => before === null))
    return `Of ${whole}: ${tally(rows, ({ after }) => after.verdict)}.`;
  return `${number.format(changes.length)} of ${whole} would change: ${tally(changes, describeStep)}.`;
}

function describeStep({ before, after }: PolicyTestRow): string {
  if (before === null) return after.verdict;
  if (before.verdict !== after.verdict) return `${before.verdict} → ${after.verdict}`;
  return before.rule === after.rule ? `${after.verdict} for another reason` : `${after.verdict} by another rule`;
}

/** `2 allow → hold, 1 block → allow`: the most frequent first. */
function tally(rows: readonly PolicyTestRow[], describe: (row: PolicyTestRow) => string): string {
  const groups = Map.groupBy(rows, describe);
  return [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([words, { length }]) => `${number.format(length)} ${words}`)
    .join(", ");
}

function describeRest(notRecomputable: number): string {
  if (notRecomputable === 0) return "";
  const things = countThings(notRecomputable, "decision");
  return `${things} could not be made again: ${notRecomputable === 1 ? "its" : "their"} arguments were redacted.`;
}

const number = new Intl.NumberFormat("en");

function countThings(count: number, what: string): string {
  return `${number.format(count)} ${what}${count === 1 ? "" : "s"}`;
}
