import { median } from "../check/measure.ts";
import type { Kind } from "./frameworks.ts";

/** The target for what a lock adds to a call, in microseconds. */
const TARGET_US = 20;

/** One run, in microseconds: a call of it, and all that is before the model's first step. */
export interface Measurement {
  readonly perCallUs: number;
  readonly startUs: number;
}

/** One line per framework: medians over the rounds, of the times and of the differences within each round. */
export function printOverheads(measured: ReadonlyMap<string, Readonly<Record<Kind, readonly Measurement[]>>>): void {
  console.log(["", "bare", "idle", "locked", "adapter", "+-", "in all", "start"].map(pad).join(""));
  for (const [name, runs] of measured) {
    const differences = differ(runs, "idle", "perCallUs");
    const added = median(differences);
    const calls = (["bare", "idle", "locked"] as const).map((kind) => median(runs[kind].map((run) => run.perCallUs)));
    const inAll = median(differ(runs, "bare", "perCallUs"));
    const figures = [...calls, added, errorOf(differences), inAll, median(differ(runs, "idle", "startUs"))];
    const verdict = added <= TARGET_US ? "met" : "MISSED";
    const line = [name, ...figures.map((value) => value.toFixed(1))].map(pad).join("");
    console.log(`${line}   target for the adapter, ${TARGET_US}: ${verdict}`);
  }
}

/** What the locked run took more, in each round. */
function differ(
  runs: Readonly<Record<Kind, readonly Measurement[]>>,
  without: Kind,
  what: keyof Measurement,
): number[] {
  return runs.locked.map((run, round) => run[what] - (runs[without][round]?.[what] ?? 0));
}

/** The standard error of a median, from the middle half of the values: 1.253 σ / √n, where σ is that half's width / 1.349. */
function errorOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return ((at(0.75) - at(0.25)) / 1.349) * (1.253 / Math.sqrt(sorted.length));
}

function pad(word: string, index: number): string {
  return index === 0 ? word.padEnd(28) : word.padStart(9);
}
