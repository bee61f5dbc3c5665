import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** What is read of Stryker's report: https://github.com/stryker-mutator/mutation-testing-elements, version 2. */
export interface Report {
  readonly files: Readonly<Record<string, MutatedFile>>;
}

export interface MutatedFile {
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

export interface Mutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: "Killed" | "Timeout" | "Survived" | "NoCoverage" | "RuntimeError" | "CompileError" | "Ignored";
  /** It is run when its module is loaded, so that no test has it to itself. */
  readonly static?: boolean;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** Both from 1 on. */
interface Position {
  readonly line: number;
  readonly column: number;
}

export function isLeft({ status }: Mutant): boolean {
  return status === "Survived" || status === "NoCoverage";
}

export function readReport(file: string): MutatedFile & { readonly file: string } {
  return { file, ...(JSON.parse(readFileSync(pathOf(file), "utf8")) as MutatedFile) };
}

export function hasReport(file: string): boolean {
  return existsSync(pathOf(file));
}

/** Keeps what a report says of a file: all of it, or what has become of the mutants that were left. */
export function keepReport(file: string, { files }: Report, what: "new" | "more"): void {
  const found = files[file];
  if (!found) return;
  const mutants = what === "new" ? found.mutants : readReport(file).mutants.map((mutant) => update(mutant, found));
  mkdirSync(dirname(pathOf(file)), { recursive: true });
  writeFileSync(pathOf(file), JSON.stringify({ source: found.source, mutants }));
}

/**
 * What survived, as Stryker wants to be told where to mutate: columns from 0 on. `of tests` is without what runs when its
 * module is loaded: every test of a suite would have to be run for it.
 */
export function listSurvivors({ file, mutants }: ReturnType<typeof readReport>, which: "all" | "of tests"): string[] {
  const left = mutants.filter((mutant) => isLeft(mutant) && (which === "all" || !mutant.static));
  const places = left.map(({ location: { start, end } }) => {
    return `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
  });
  return [...new Set(places)];
}

function update(mutant: Mutant, { mutants }: MutatedFile): Mutant {
  const again = isLeft(mutant) && mutants.find((other) => nameOf(other) === nameOf(mutant));
  return again ? { ...mutant, status: again.status } : mutant;
}

function nameOf({ mutatorName, replacement, location }: Mutant): string {
  return JSON.stringify([mutatorName, replacement, location]);
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(`reports/${file}.json`, import.meta.url));
}
