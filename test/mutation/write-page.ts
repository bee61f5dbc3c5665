/** Prints what the mutation runs have found, and with `--save` keeps it for docs/mutation-testing.md. */
import { reportResults, type Table } from "../../bench/results.ts";
import { JUDGED } from "./judged.ts";
import { type Judgement, judgeSurvivors, KINDS } from "./judgements.ts";
import { hasReport, isLeft, type Mutant, readReport } from "./reports.ts";
import { filesOf, SCOPES } from "./scopes.ts";

const COLUMNS = ["mutants", "killed", "timeout", "survived", "not reached", "could not run", "score"];
const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];

const folders = SCOPES.map((scope) => {
  const files = filesOf(scope);
  const reports = files.filter(hasReport).map(readReport);
  return { folder: scope.folder, reports, missing: files.filter((file) => !hasReport(file)) };
});
const judged = folders.flatMap(({ reports }) =>
  reports.flatMap((report) =>
    judgeSurvivors(report.file, report, JUDGED).map((survivor) => ({ file: report.file, ...survivor })),
  ),
);

const summary: Table = {
  title: "folder",
  columns: ["files run", ...COLUMNS],
  rows: folders.map(({ folder, reports, missing }) => {
    const files = `${reports.length} of ${reports.length + missing.length}`;
    return [folder, files, ...countUp(reports.flatMap(({ mutants }) => mutants))];
  }),
};
const perFile: Table = {
  title: "file",
  columns: [...COLUMNS, ...kinds.map((kind) => `left: ${kind}`), "left: not judged"],
  rows: folders.flatMap(({ reports }) =>
    reports.map(({ file, mutants }): Table["rows"][number] => {
      const here = judged.filter((survivor) => survivor.file === file);
      const counts = [...kinds, undefined].map((kind) => here.filter(({ judgement }) => judgement?.kind === kind));
      return [file, ...countUp(mutants), ...counts.map(({ length }) => `${length}`)];
    }),
  ),
};
const byKind: Table = {
  title: "what is left",
  columns: ["mutants", "kind", "why"],
  rows: JUDGED.flatMap((judgement) => row(judgement)),
};
const missing = folders.flatMap((folder) => folder.missing);
reportResults("mutation", {
  tables: [summary, perFile, byKind],
  figures: {
    "not run": missing.length === 0 ? "none" : missing.map((file) => `\`${file}\``).join(", "),
    left: `${judged.length}`,
    "not judged": `${judged.filter(({ judgement }) => !judgement).length}`,
  },
});

function row(judgement: Judgement): [string, ...string[]][] {
  const count = judged.filter((survivor) => survivor.judgement === judgement).length;
  const { file, line, kind, why } = judgement;
  const place = line === undefined ? file : `${file}: \`${line.replaceAll("|", "\\|")}\``;
  return count === 0 ? [] : [[place, `${count}`, kind, why]];
}

/** As Stryker counts: what could not run, such as a file that does not load, is in no score. */
function countUp(mutants: readonly Mutant[]): string[] {
  const count = (status: Mutant["status"]) => mutants.filter((mutant) => mutant.status === status).length;
  const [killed, timeout] = [count("Killed"), count("Timeout")];
  const valid = killed + timeout + mutants.filter(isLeft).length;
  const numbers = [valid, killed, timeout, count("Survived"), count("NoCoverage"), count("RuntimeError")];
  return [
    ...numbers.map((number) => `${number}`),
    valid ? `${((100 * (killed + timeout)) / valid).toFixed(1)} %` : "–",
  ];
}
