#!/usr/bin/env node
// Older ones have no `node:sqlite`, and would say so in words of their own.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`error: intentlock needs Node.js 22.18 or newer, and this is ${process.versions.node}\n`);
  process.exit(3);
}

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
    // Only `serve` and `mcp` listen, and only the first time: they finish what they have begun.
    if (stop.signal.aborted || !isServing(process.argv)) process.exit(signal === "SIGINT" ? 130 : 143);
    stop.abort();
  });
}

function isServing(argv: readonly string[]): boolean {
  return argv[2] === "serve" || argv[2] === "mcp";
}

const { runCli } = await import("./run-cli.ts");
const { stdin, stdout, stderr, env } = process;
process.exitCode = await runCli(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  cwd: process.cwd(),
  signal: stop.signal,
});

export {};
