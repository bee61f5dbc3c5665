/**
 * Breaks the code in every way that Stryker knows, one at a time, and says which breaks no test noticed. Run:
 * `npm run test:mutation`, with `-- src/core/glob.ts src/session` for some of it, and with `--suites` for a second run of
 * what the tests beside the files let pass. See docs/mutation-testing.md.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mutate } from "./mutate.ts";
import { keepReport, listSurvivors, readReport } from "./reports.ts";
import { filesOf, SCOPES, testsBeside } from "./scopes.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
if (!existsSync(`${folder}node_modules`)) {
  execFileSync("npm", ["ci", "--no-progress", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
}

const { values, positionals } = parseArgs({ options: { suites: { type: "boolean" } }, allowPositionals: true });
const wanted = positionals.map((path) => path.replace(/^\.\/|\/$/g, ""));
const isWanted = (file: string) => wanted.length === 0 || wanted.some((path) => `${file}/`.startsWith(`${path}/`));

for (const scope of SCOPES) {
  const files = filesOf(scope).filter(isWanted);
  for (const file of files) {
    const tests = testsBeside(file);
    console.log(`\n${file}: ${tests.join(", ")}`);
    keepReport(file, mutate([file], tests), "new");
  }
  if (!values.suites) continue;
  const left = files.flatMap((file) => listSurvivors(readReport(file)));
  if (left.length === 0) continue;
  const report = mutate(left, scope.suites);
  for (const file of files) keepReport(file, report, "more");
}
