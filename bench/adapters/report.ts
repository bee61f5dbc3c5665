import { median } from "../check/measure.ts";
import type { Kind } from "./frameworks.ts";

/** The target for what a lock adds to a call, in microseconds. */
const TARGET_US = 20;

/** One line per framework: medians over the rounds, of the times and of the differences within each round. */
export function printOverheads(measured: ReadonlyMap<string, Readonly<Record<Kind, readonly number[]>>>): void {
  console.log(["", "bare", "idle", "locked", "adapter", "in all"].map((word, index) => pad(word, index)).join(""));
  for (const [name, { bare, idle, locked }] of measured) {
    const added = median(locked.map((value, round) => value - (idle[round] ?? 0)));
    const inAll = median(locked.map((value, round) => value - (bare[round] ?? 0)));
    const figures = [median(bare), median(idle), median(locked), added, inAll].map((value) => value.toFixed(1));
    const verdict = added <= TARGET_US ? "met" : "MISSED";
    console.log(`${[name, ...figures].map(pad).join("")}   target for the adapter, ${TARGET_US}: ${verdict}`);
  }
}

function pad(word: string, index: number): string {
  return index === 0 ? word.padEnd(28) : word.padStart(9);
}
