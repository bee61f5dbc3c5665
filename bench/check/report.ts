import { median } from "./measure.ts";

/** What was measured, by row and column: nanoseconds, one for each round. */
export type Measured = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;

/** One line of a table: the row's name and its columns, in nanoseconds. */
export function printTable(title: string, measured: Measured, ratio?: readonly [over: string, under: string]): void {
  const columns = [...(measured.values().next().value?.keys() ?? [])];
  const heads = ratio ? [...columns, `${ratio[0]} / ${ratio[1]}`] : columns;
  console.log(`\n${title.padEnd(30)}${heads.map((head) => head.padStart(16)).join("")}`);
  for (const [name, row] of measured) {
    const cells = columns.map((column) => printTime(median(row.get(column) ?? [])));
    if (ratio) cells.push(`${ratioOf(row.get(ratio[0]), row.get(ratio[1])).toFixed(1)} x`);
    console.log(`  ${name.padEnd(28)}${cells.map((cell) => cell.padStart(16)).join("")}`);
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
