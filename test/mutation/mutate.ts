import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Report } from "./reports.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const stryker = `${folder}node_modules/@stryker-mutator/core/bin/stryker.js`;
const work = `${folder}reports/`;

/** Mutates these files, or parts of files, and runs these tests for each mutant that they reach. */
export function mutate(parts: readonly string[], tests: readonly string[]): Report {
  mkdirSync(work, { recursive: true });
  const config = JSON.parse(readFileSync(`${folder}stryker.config.json`, "utf8")) as object;
  const options = { ...config, mutate: parts, jsonReporter: { fileName: `${work}last.json` } };
  writeFileSync(`${work}last.config.json`, JSON.stringify(options));
  const env = { ...process.env, INTENTLOCK_MUTATION_TESTS: tests.join(",") };
  execFileSync(process.execPath, [stryker, "run", `${work}last.config.json`], { env, stdio: "inherit" });
  return JSON.parse(readFileSync(`${work}last.json`, "utf8")) as Report;
}
