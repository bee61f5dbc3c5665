/**
 * npm run examples
 *
 * Runs every example and the demo, each in its own process: one that prints nothing or exits with an error fails.
 */
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findChromium } from "./inbox-demo/click.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const helpers = ["run-all.ts", "scripted-model.ts"];
const files = (await readdir(folder)).filter((file) => file.endsWith(".ts") && !helpers.includes(file)).sort();
// Without keys: no example asks a real model here.
const isKept = (name: string): boolean => !/^FORCE_COLOR$|^INTENTLOCK_|_API_KEY$/.test(name);
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => isKept(name)));

const programs = [...files, "demo/run.ts", "github-triage/run.ts"];
if (findChromium() === undefined) console.log("skipped inbox-demo: there is no Chromium");
else programs.push("inbox-demo/run.ts --auto");
for (const program of programs) {
  const [file = "", ...args] = program.split(" ");
  const failure = await runExample(file, args);
  const name = file.endsWith("/run.ts") ? dirname(file) : basename(file, ".ts");
  console.log(failure === undefined ? `ok ${name}` : `FAILED ${name}\n${failure}`);
  if (failure !== undefined) process.exitCode = 1;
}

/** What went wrong, if anything did. */
async function runExample(file: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const options = { cwd: folder, env: { ...env, NO_COLOR: "1" }, timeout: 60_000 };
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], options);
    return stdout.trim() === "" ? "it printed nothing" : undefined;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    return `${stdout}${stderr}` || String(error);
  }
}
