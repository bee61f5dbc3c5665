import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Figures as they are printed and as the documentation shows them: text, so that both say the same. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly [label: string, ...cells: string[]])[];
}

export interface Results {
  readonly measured: Measured;
  readonly tables: readonly Table[];
  /** Single figures by name, for sentences. */
  readonly figures: Readonly<Record<string, string>>;
}

/** When and where. No path, no host. */
export interface Measured {
  readonly on: string;
  readonly node: string;
  readonly cores: number;
  /** What a reader has to know of this run, such as that the machine was busy. */
  readonly note?: string;
}

const folder = new URL("results/", import.meta.url);

/** Prints the tables, and keeps them as {@link saveResults} does. */
export function reportResults(name: string, results: Omit<Results, "measured">): void {
  for (const table of results.tables) console.log(`\n${printTable(table)}`);
  saveResults(name, results);
}

/** With `--save` in the arguments, keeps results for `node bench/write-docs.ts`. */
export function saveResults(name: string, { tables, figures }: Omit<Results, "measured">): void {
  if (!process.argv.includes("--save")) return;
  const note = process.env["INTENTLOCK_BENCH_NOTE"];
  const measured: Measured = {
    on: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    cores: availableParallelism(),
    ...(note && { note }),
  };
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ measured, tables, figures } satisfies Results, null, 2);
  writeFileSync(new URL(`${name}.json`, folder), `${text}\n`);
  console.log(`\nSaved. Now: node bench/write-docs.ts`);
}

export function readResults(name: string): Results {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")) as Results;
}

function printTable({ title, columns, rows }: Table): string {
  const first = Math.max(title.length, ...rows.map(([label]) => label.length));
  const widths = columns.map((name, index) => Math.max(name.length, ...rows.map((row) => row[index + 1]?.length ?? 0)));
  const line = ([label, ...cells]: readonly string[]) =>
    [label?.padEnd(first), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 0))].join("  ").trimEnd();
  return [line([title, ...columns]), ...rows.map(line)].join("\n");
}

export function toMarkdown({ title, columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line([title, ...columns]), line(["---", ...columns.map(() => "---:")]), ...rows.map(line)].join("\n");
}

/** A row of a table of targets. */
export function judge(
  what: string,
  { value, target, met }: { value: string; target: string; met: boolean },
): [string, ...string[]] {
  return [what, value, target, met ? "met" : "NOT MET"];
}
