/**
 * Breaks the code in every way that Stryker knows, one at a time, and says which breaks no test noticed. Run:
 * `npm run test:mutation`, with `-- src/core/glob.ts src/session` for some of it. What such a run has let pass is run again
 * with `--left`, after tests were written, or with `--suites`, under the suites of its folder. See docs/mutation-testing.md.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mutate } from "./mutate.ts";
import { hasReport, keepReport, listSurvivors, readReport } from "./reports.ts";
import { filesOf, SCOPES, testsBeside } from "./scopes.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
if (!existsSync(`${folder}node_modules`)) {
  execFileSync("npm", ["ci", "--no-progress", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
}

const { values, positionals } = parseArgs({
  options: { suites: { type: "boolean" }, left: { type: "boolean" } },
  allowPositionals: true,
});
const wanted = positionals.map((path) => path.replace(/^\.\/|\/$/g, ""));
const isWanted = (file: string) => wanted.length === 0 || wanted.some((path) => `${file}/`.startsWith(`${path}/`));

for (const scope of SCOPES) {
  const files = filesOf(scope).filter(isWanted);
  if (values.suites) runSuites(files.filter(hasReport), scope.suites);
  else if (values.left) files.filter(hasReport).forEach(runLeft);
  else files.forEach(runTestsBeside);
}

function runTestsBeside(file: string): void {
  const tests = testsBeside(file);
  // Without any, all of them would be run for each mutant.
  if (tests.length === 0) throw new Error(`no tests are named for ${file}: see scopes.ts`);
  console.log(`\n${file}: ${tests.join(", ")}`);
  keepReport(file, mutate([file], tests), "new");
}

function runLeft(file: string): void {
  const left = listSurvivors(readReport(file), "all");
  if (left.length > 0) keepReport(file, mutate(left, testsBeside(file)), "more");
}

function runSuites(files: readonly string[], suites: readonly string[]): void {
  const left = files.flatMap((file) => listSurvivors(readReport(file), "of tests"));
  if (left.length === 0) return;
  const report = mutate(left, suites);
  for (const file of files) keepReport(file, report, "more");
}
