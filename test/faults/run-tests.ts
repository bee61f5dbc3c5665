import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** What one file of tests came to. */
export interface FileResult {
  readonly passed: number;
  readonly skipped: number;
  /** The names of the tests that failed, each with those of the groups that it is in. */
  readonly failed: readonly string[];
}

/** What vitest reports, as far as it is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly ancestorTitles: readonly string[];
      readonly title: string;
    }[];
  }[];
}

/** A fault may have a test wait for what never comes. */
const TEST_LIMIT_MS = 20_000;
const LIMIT_MS = 600_000;

/**
 * Runs files of tests in a folder, their types unchecked.
 *
 * @returns what each file came to, by its path: one that could not be loaded has no tests
 * @throws Error if the run gave no report
 */
export async function runTests(folder: string, files: readonly string[]): Promise<ReadonlyMap<string, FileResult>> {
  const report = join(folder, "report.json");
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const limits = [`--testTimeout=${TEST_LIMIT_MS}`, `--hookTimeout=${TEST_LIMIT_MS}`];
  const options = ["--typecheck.enabled=false", ...limits, "--reporter=json", `--outputFile=${report}`];
  const output = await run([vitest, "run", "--root", folder, ...options, ...files], folder);
  let text: string;
  try {
    text = readFileSync(report, "utf8");
  } catch {
    throw new Error(`the tests gave no report:\n${output.slice(-3000)}`);
  }
  const { testResults } = JSON.parse(text) as Report;
  return new Map(testResults.map((result) => [relative(folder, result.name), toResult(result.assertionResults)]));
}

function toResult(tests: Report["testResults"][number]["assertionResults"]): FileResult {
  const count = (status: string): number => tests.filter((test) => test.status === status).length;
  const failed = tests.filter(({ status }) => status === "failed");
  const names = failed.map(({ ancestorTitles, title }) => [...ancestorTitles, title].join(" > "));
  const passed = count("passed");
  return { passed, skipped: tests.length - passed - failed.length, failed: names };
}

/** Gives what it said, whether it failed or not. */
async function run(parts: readonly string[], cwd: string): Promise<string> {
  const child = spawn(process.execPath, parts, { cwd, timeout: LIMIT_MS, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
