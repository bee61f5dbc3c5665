import { median } from "./measure.ts";

const WIDTH = 14;

/** What was measured, by row and column: nanoseconds, one for each round. */
export type Measured = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;

/** Two columns of a table. */
export type Ratio = readonly [over: string, under: string];

/** Prints the medians, one line for each row, and behind them the ratios. */
export function printTable(title: string, measured: Measured, ratios: readonly Ratio[] = []): void {
  const columns = [...(measured.values().next().value?.keys() ?? [])];
  const heads = [...columns, ...ratios.map(([over, under]) => `${over}/${under}`.replaceAll(" ", ""))];
  console.log(`\n${title.padEnd(28)}${heads.map((head) => head.padStart(WIDTH)).join("")}`);
  for (const [name, row] of measured) {
    const cells = columns.map((column) => printTime(median(row.get(column) ?? [])));
    for (const [over, under] of ratios) cells.push(`${ratioOf(row.get(over), row.get(under)).toFixed(1)} x`);
    console.log(`  ${name.padEnd(26)}${cells.map((cell) => cell.padStart(WIDTH)).join("")}`);
  }
}

/** A figure and what it should at most be. */
export interface Target {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  /** Nanoseconds, or a ratio. */
  readonly unit: "ns" | "x";
}

export function printTargets(targets: readonly Target[]): void {
  console.log("\nTargets");
  for (const { name, value, most, unit } of targets) {
    const print = (figure: number) => (unit === "ns" ? printTime(figure) : `${figure.toFixed(2)} x`);
    const verdict = value <= most ? "met" : "NOT MET";
    console.log(`  ${name.padEnd(64)}${print(value).padStart(10)}  at most ${print(most).padEnd(9)} ${verdict}`);
  }
}

/** The median over the rounds of how many times `over` is `under` in the same round. */
export function ratioOf(over: readonly number[] = [], under: readonly number[] = []): number {
  return median(over.map((value, round) => value / (under[round] ?? Number.NaN)));
}

function printTime(ns: number): string {
  if (ns < 9_995) return `${(ns / 1000).toFixed(2)} µs`;
  if (ns < 999_500) return `${(ns / 1000).toFixed(0)} µs`;
  return `${(ns / 1e6).toFixed(2)} ms`;
}
