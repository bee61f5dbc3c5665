/**
 * The conformance suite, and the guard, with the lowest versions of the frameworks: npm run test:peers
 *
 * They are installed in a folder of their own, and the sources are copied into it: what they import is found there first.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const lowest = fileURLToPath(new URL("lowest/", import.meta.url));
const copy = `${lowest}copy/`;

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: "inherit" });
}

run("npm", ["ci", "--no-progress"], lowest);
rmSync(copy, { recursive: true, force: true });
mkdirSync(copy);
for (const name of ["src", "entries.ts", "package.json", "tsconfig.json", "vitest.config.ts"]) {
  cpSync(`${root}${name}`, `${copy}${name}`, { recursive: true });
}
for (const name of readdirSync(`${root}test`)) {
  if (name !== "peers") cpSync(`${root}test/${name}`, `${copy}test/${name}`, { recursive: true });
}
cpSync(`${root}test/peers/versions.ts`, `${copy}test/peers/versions.test.ts`);
const suites = [
  "test/framework-conformance",
  "test/peers",
  "src/guard/create-guard.test",
  "src/guard/execute-call.test",
];
try {
  run("npx", ["vitest", "run", "--root", copy, "--typecheck.enabled=false", ...suites, ...process.argv.slice(2)], root);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
