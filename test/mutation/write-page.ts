/**
 * Prints what the mutation runs have found, and with `--save` keeps it for docs/mutation-testing.md: of files without a
 * report here what is kept already, as long as they are the same.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readResults, reportResults, type Table } from "../../bench/results.ts";
import { JUDGED } from "./judged.ts";
import { type Judgement, judgeSurvivors, KINDS } from "./judgements.ts";
import { hasReport, isLeft, type Mutant, readReport } from "./reports.ts";
import { filesOf, SCOPES } from "./scopes.ts";

const COUNTS = ["mutants", "killed", "timeout", "survived", "not reached", "could not run"];
const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
const JUDGEMENTS = [...kinds, "not judged"] as const;
type Row = Table["rows"][number];

const earlier = readResults("mutation");
const folders = SCOPES.map((scope) => ({ folder: scope.folder, files: filesOf(scope) }));
const files = folders.flatMap((folder) => folder.files);
const rows = new Map(
  files.flatMap((file): [string, Row][] => toEntry(file, hasReport(file) ? count(file) : keep(file))),
);

const summary: Table = {
  title: "folder",
  columns: ["files run", ...COUNTS, "score"],
  rows: folders.map((folder) => {
    const run = folder.files.flatMap((file) => toList(rows.get(file)));
    const sums = COUNTS.map((_, column) => sum(run.map((row) => Number(row[column + 1]))));
    return [folder.folder, `${run.length} of ${folder.files.length}`, ...sums.map(String), toScore(sums)];
  }),
};
const perFile: Table = {
  title: "file",
  columns: [...COUNTS, "score", ...JUDGEMENTS.map((kind) => `left: ${kind}`)],
  rows: [...rows.values()],
};
const byKind: Table = {
  title: "what is left",
  columns: ["mutants", "kind", "why"],
  rows: JUDGED.flatMap((judgement) => toList(hasReport(judgement.file) ? explain(judgement) : recall(judgement))),
};
const missing = files.filter((file) => !rows.has(file));
const lefts = [...rows.values()].map((row) => row.slice(-JUDGEMENTS.length).map(Number));
reportResults("mutation", {
  tables: [summary, perFile, byKind],
  figures: {
    "not run": missing.length === 0 ? "none" : missing.map((file) => `\`${file}\``).join(", "),
    left: `${sum(lefts.flat())}`,
    "not judged": `${sum(lefts.map((left) => left.at(-1) ?? 0))}`,
    ...Object.fromEntries([...rows.keys()].map((file) => [nameSource(file), digestSource(file)])),
  },
});

function count(file: string): Row {
  const report = readReport(file);
  const judged = judgeSurvivors(file, report, JUDGED);
  const left = JUDGEMENTS.map((kind) => judged.filter(({ judgement }) => (judgement?.kind ?? "not judged") === kind));
  const counts = countUp(report.mutants);
  return [file, ...counts.map(String), toScore(counts), ...left.map(({ length }) => `${length}`)];
}

/** What was found earlier of a file that is still the same: a run of some files says nothing new of the others. */
function keep(file: string): Row | undefined {
  const isSame = earlier.figures[nameSource(file)] === digestSource(file);
  return isSame ? rowsOf("file").find(([label]) => label === file) : undefined;
}

function explain(judgement: Judgement): Row | undefined {
  const { file, kind, why } = judgement;
  const found = judgeSurvivors(file, readReport(file), JUDGED).filter((survivor) => survivor.judgement === judgement);
  return found.length === 0 ? undefined : [placeOf(judgement), `${found.length}`, kind, why];
}

function recall(judgement: Judgement): Row | undefined {
  const { file, kind, why } = judgement;
  if (!rows.has(file)) return undefined;
  const place = placeOf(judgement);
  return rowsOf("what is left").find((row) => row[0] === place && row[2] === kind && row[3] === why);
}

function placeOf({ file, line }: Judgement): string {
  return line === undefined ? file : `${file}: \`${line.replaceAll("|", "\\|")}\``;
}

function rowsOf(title: string): readonly Row[] {
  return earlier.tables.find((table) => table.title === title)?.rows ?? [];
}

function nameSource(file: string): string {
  return `source of ${file}`;
}

function digestSource(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
}

function toEntry(file: string, row: Row | undefined): [string, Row][] {
  return row ? [[file, row]] : [];
}

function toList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** In the order of the columns, as Stryker counts: what could not run, such as a file that does not load, is in no score. */
function countUp(mutants: readonly Mutant[]): number[] {
  const of = (status: Mutant["status"]): number => mutants.filter((mutant) => mutant.status === status).length;
  const [killed, timeout] = [of("Killed"), of("Timeout")];
  const valid = killed + timeout + mutants.filter(isLeft).length;
  return [valid, killed, timeout, of("Survived"), of("NoCoverage"), of("RuntimeError")];
}

function toScore([valid = 0, killed = 0, timeout = 0]: readonly number[]): string {
  return valid ? `${((100 * (killed + timeout)) / valid).toFixed(1)} %` : "–";
}
