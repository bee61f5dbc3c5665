import { CommanderError } from "commander";
import { PROBLEMS } from "../../core/api/index.ts";
import { IntentlockError, type Issue, PolicyError } from "../../core/index.ts";
import { ProblemError } from "../../server/handler.ts";
import { CliError, EXIT, type ExitCode, exitCodeOf } from "../exit-codes.ts";
import { type CliIo, readEnv } from "../io.ts";
import { createPaint } from "./paint.ts";
import { printable, printJson } from "./printable.ts";

/** What a program that asked with `--json` reads on the error stream. */
interface ErrorReport {
  readonly error: { readonly code: string; readonly message: string; readonly issues?: readonly Issue[] };
}

/** Says what went wrong, in plain lines or as JSON; the stack only with INTENTLOCK_DEBUG. @returns the exit code */
export function reportError(error: unknown, io: CliIo, { json }: { readonly json: boolean }): ExitCode {
  if (error instanceof CommanderError) {
    // Help or the version was asked for, and is on the screen.
    if (error.exitCode === 0) return EXIT.ok;
    // Help was shown because there was no command.
    if (error.code === "commander.help" && !json) return EXIT.usage;
  }
  const report = describeError(error);
  if (json) io.stderr.write(printJson(report));
  else {
    const paint = createPaint(io, io.stderr);
    const [first = "", ...more] = report.error.message.split("\n").map(printable);
    io.stderr.write([`${paint("red", "error:")} ${first}`, ...more, ""].join("\n"));
  }
  if (readEnv(io, "INTENTLOCK_DEBUG") !== undefined && !(error instanceof CommanderError)) printStack(error, io);
  return error instanceof CommanderError ? EXIT.usage : exitCodeOf(error);
}

function describeError(error: unknown): ErrorReport {
  if (error instanceof CommanderError) {
    const message = error.code === "commander.help" ? "a command is missing" : error.message.replace(/^error: /, "");
    return { error: { code: "ERR_USAGE", message } };
  }
  if (error instanceof ProblemError) {
    const { issues = [], detail } = error.more;
    const { title, help } = PROBLEMS[error.code];
    const lines = issues.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`);
    const message = [`${detail ?? title}.`, ...lines, help].join("\n");
    return { error: { code: error.code, message, ...(issues.length > 0 && { issues }) } };
  }
  if (error instanceof CliError || error instanceof IntentlockError) {
    const { code, message } = error;
    const issues = error instanceof CliError || error instanceof PolicyError ? error.issues : undefined;
    return { error: { code, message, ...(issues && { issues }) } };
  }
  const why = error instanceof Error ? error.message : String(error);
  return { error: { code: "ERR_UNEXPECTED", message: `${why}\nSet INTENTLOCK_DEBUG=1 to see where it happened.` } };
}

function printStack(error: unknown, { stderr }: CliIo): void {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    stderr.write(`${(one.stack ?? String(one)).split("\n").map(printable).join("\n")}\n`);
  }
}
