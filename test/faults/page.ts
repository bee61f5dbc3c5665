import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { AREAS } from "./all-faults.ts";
import type { Fault } from "./fault.ts";

export const PAGE: URL = new URL("../../docs/planted-faults.md", import.meta.url);

/** The tests of one file that failed, in their order. */
export interface Caught {
  readonly file: string;
  readonly failed: readonly string[];
}

/** Writes into the page what has caught a fault. Every other row stays, if its fault is as it was. */
export function savePage(fault: Fault, caught: readonly Caught[]): void {
  const page = existsSync(PAGE) ? readFileSync(PAGE, "utf8") : "";
  writeFileSync(PAGE, writePage(page, `${startRow(fault)} ${caught.map(tell).join("<br>")} |`));
}

/** The page about the faults, with one new row, and the others from the page as it was. */
function writePage(page: string, row: string): string {
  const rows = [row, ...page.split("\n")];
  const areas = Object.entries(AREAS).map(([name, faults]) => {
    const its = faults.flatMap((fault) => rows.find((one) => one.startsWith(startRow(fault))) ?? []);
    return [`## ${name}`, "", "| fault | place | caught by |", "|---|---|---|", ...its, ""].join("\n");
  });
  return `${INTRODUCTION}\n${areas.join("\n")}`;
}

/** A row of the page, up to what caught the fault. */
export function startRow({ id, breaks, file }: Fault): string {
  return `| ${breaks} (\`${id}\`) | [${file}](../${file}) |`;
}

function tell({ file, failed: [first = "", ...more] }: Caught): string {
  const others = more.length > 0 ? `, and ${more.length} more` : "";
  return `[${file.split("/").at(-1)}](../${file}): “${escapeMarkdown(shorten(first))}”${others}`;
}

function shorten(name: string): string {
  return name.length > 120 ? `${name.slice(0, 119).toWellFormed()}…` : name;
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_[\]<>|]/g, String.raw`\$&`);
}

const INTRODUCTION = `# Planted faults

A test that cannot fail proves nothing. Here are mistakes that would let a call through, lose a person's word or break the record, each planted by a script into a copy of the repository: the tests that are named beside it turn red.

\`\`\`
npm run test:faults              # all of them, one after the other
npm run test:faults -- no-leeway # one of them, by its name
npm run test:faults -- --save    # and writes into this page what caught each
\`\`\`

The list is in [test/faults](../test/faults/all-faults.ts): for each fault the file, the text that is replaced, and the files of tests each of which has to fail. First the script sees these files green without a fault; a file that cannot be loaded is not a test that failed. The replaced text has to occur exactly once in its file. [A test of its own](../test/faults.test.ts) says so in every run of the suite, and that this page has every fault, so that the list follows the code.

What it does not show: that there is no other mistake which nobody would notice. Faults are examples, chosen by hand.
`;
