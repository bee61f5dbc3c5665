#!/usr/bin/env node
// Node.js 22 warns that `node:sqlite` is experimental as soon as it is loaded, so this is before everything else.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
  if (!String(warning).includes("SQLite is an experimental feature"))
    Reflect.apply(emitWarning, process, [warning, ...rest]);
};

// Whoever reads the output may stop early, like `head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // Only `serve` listens, and only the first time: it finishes what it has begun.
    if (stop.signal.aborted || !isServing(process.argv)) process.exit(signal === "SIGINT" ? 130 : 143);
    stop.abort();
  });
}

function isServing(argv: readonly string[]): boolean {
  return argv[2] === "serve";
}

const { runCli } = await import("./run-cli.ts");
const { stdout, stderr, env } = process;
process.exitCode = await runCli(process.argv.slice(2), {
  stdout,
  stderr,
  env,
  cwd: process.cwd(),
  signal: stop.signal,
});

export {};
