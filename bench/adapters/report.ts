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
  console.log(["", "bare", "idle", "locked", "adapter", "in all", "start"].map(pad).join(""));
  for (const [name, runs] of measured) {
    const added = difference(runs, "idle", "perCallUs");
    const calls = (["bare", "idle", "locked"] as const).map((kind) => median(runs[kind].map((run) => run.perCallUs)));
    const figures = [...calls, added, difference(runs, "bare", "perCallUs"), difference(runs, "idle", "startUs")];
    const verdict = added <= TARGET_US ? "met" : "MISSED";
    const line = [name, ...figures.map((value) => value.toFixed(1))].map(pad).join("");
    console.log(`${line}   target for the adapter, ${TARGET_US}: ${verdict}`);
  }
}

function difference(
  runs: Readonly<Record<Kind, readonly Measurement[]>>,
  without: Kind,
  what: keyof Measurement,
): number {
  return median(runs.locked.map((run, round) => run[what] - (runs[without][round]?.[what] ?? 0)));
}

function pad(word: string, index: number): string {
  return index === 0 ? word.padEnd(28) : word.padStart(9);
}
