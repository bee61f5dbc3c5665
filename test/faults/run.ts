/**
 * Plants each fault of the list in a copy of the repository, and sees the tests that it names turn red:
 * npm run test:faults, or npm run test:faults -- ID ...; with --save, what caught each is written into the page.
 */
import { FAULTS } from "./all-faults.ts";
import type { Fault } from "./fault.ts";
import { type Caught, savePage } from "./page.ts";
import { type FileResult, runTests } from "./run-tests.ts";
import { plantIn, withCopy } from "./with-copy.ts";

const ids = process.argv.slice(2).filter((part) => part !== "--save");
const isSaved = process.argv.includes("--save");
const unknown = ids.filter((id) => !FAULTS.some((fault) => fault.id === id));
if (unknown.length > 0) fail(`There is no fault ${unknown.join(", ")}`);

const faults = ids.length === 0 ? FAULTS : FAULTS.filter(({ id }) => ids.includes(id));
const started = performance.now();
findTexts();
await seeGreen();
const survived: string[] = [];
for (const fault of faults) {
  const caught = await seeRed(fault);
  if (!caught) survived.push(fault.id);
  else if (isSaved) savePage(fault, caught);
}
const seconds = Math.round((performance.now() - started) / 1000);
console.log(`\n${faults.length - survived.length} of ${faults.length} faults were caught, in ${seconds} s`);
if (survived.length > 0) fail(`Not caught by each file that has to: ${survived.join(", ")}`);

/** Before any test is run: a list that does not fit the code any more says so at once. */
function findTexts(): void {
  for (const fault of faults) {
    try {
      plantIn(fault);
    } catch (error) {
      fail(`${error instanceof Error ? error.message : error}`);
    }
  }
}

/** Without a fault none of the files may be red: what is red anyway proves nothing. */
async function seeGreen(): Promise<void> {
  const files = [...new Set(faults.flatMap(({ tests }) => tests))];
  const results = await withCopy(undefined, (folder) => runTests(folder, files));
  const red = files.filter((file) => !isGreen(results.get(file)));
  for (const file of red) console.log([file, ...(results.get(file)?.failed ?? [])].join("\n  "));
  if (red.length > 0) fail("These files are not green without a fault");
  console.log(`${files.length} files of tests are green without a fault\n`);
}

function isGreen(result: FileResult | undefined): boolean {
  return result !== undefined && result.passed > 0 && result.failed.length === 0;
}

/** @returns what caught the fault in each of its files; undefined if one of them did not */
async function seeRed(fault: Fault): Promise<readonly Caught[] | undefined> {
  const results = await withCopy(fault, (folder) => runTests(folder, fault.tests));
  const found = fault.tests.map((file) => ({ file, ...(results.get(file) ?? NO_RESULT) }));
  const isCaught = found.every(({ failed }) => failed.length > 0);
  console.log(`${isCaught ? "caught  " : "SURVIVED"}  ${fault.id}`);
  for (const result of found) console.log(`            ${result.file}: ${describe(result)}`);
  return isCaught ? found : undefined;
}

const NO_RESULT: FileResult = { passed: 0, skipped: 0, failed: [] };

function describe({ failed: [first, ...more], passed, skipped }: FileResult): string {
  if (first !== undefined) return more.length > 0 ? `${first} (and ${more.length} more)` : first;
  return passed + skipped > 0 ? `${passed} passed, ${skipped} skipped` : "could not be loaded";
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
