import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { aShell } from "../../test/command-lines.ts";
import { EXIT } from "./exit-codes.ts";

// Processes, threads and syncs take as long as the machine needs.
vi.setConfig({ testTimeout: 120_000 });

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

/** Starts the program itself. */
function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { folder } = aShell();
  const child = spawn(process.execPath, [MAIN, ...argv], { cwd: folder, env: { PATH: process.env["PATH"], ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.err += text;
  });
  return { child, printed, ended: once(child, "close").then(([code]) => ({ code, ...printed })) };
}

describe("the program", () => {
  test.each<[argv: string, code: number, out: RegExp, err: RegExp]>([
    ["--version", EXIT.ok, /^\d+\.\d+\.\d+\n$/, /^$/],
    ["polcy", EXIT.usage, /^$/, /^error: unknown command/],
    ["agent list", EXIT.failed, /^$/, /^error: There is no database/],
    ["agent create triage", EXIT.ok, /^Agent triage has the id /, /^$/],
  ])("%s ends with %i, and warns of nothing", async (argv, code, out, err) => {
    const ended = await start(argv.split(" ")).ended;
    expect(ended).toEqual({ code, out: expect.stringMatching(out), err: expect.stringMatching(err) });
  });

  test.each(["SIGINT", "SIGTERM"] as const)("serves until %s, and ends in order", async (signal) => {
    const { child, printed, ended } = start(["serve", "--port", "0", "--admin", "root@acme.dev"]);
    while (!printed.out.includes("\nAnother one")) await Promise.race([once(child.stdout, "data"), ended]);
    child.kill(signal);
    expect(await ended).toMatchObject({ code: EXIT.ok, err: expect.stringContaining('"msg":"stopped"') });
  });

  test("ends without a word when nobody reads on", async () => {
    const { child, ended } = start(["--help"]);
    child.stdout.destroy();
    expect(await ended).toMatchObject({ err: "" });
  });
});
