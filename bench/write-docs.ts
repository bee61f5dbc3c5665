/** Fills the marked parts of the pages with what the benchmarks have saved: `node bench/write-docs.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { fillPage, PAGES } from "./fill-page.ts";
import { readResults } from "./results.ts";

for (const page of PAGES) {
  const file = new URL(`../${page}`, import.meta.url);
  writeFileSync(file, fillPage(readFileSync(file, "utf8"), readResults));
}
