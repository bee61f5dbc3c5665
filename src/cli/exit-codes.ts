import { IntentlockError, type Issue } from "../core/index.ts";
import { ProblemError } from "../server/handler.ts";

/** What the command line ends with. */
export const EXIT = {
  /** Done, and the answer is yes. */
  ok: 0,
  /** Done, and the answer is no: a policy is not valid, a verdict changed, an audit differs. */
  negative: 1,
  /** The command was not understood. */
  usage: 2,
  /** It could not be done: no database, no such agent, a file that cannot be read. */
  failed: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a {@link CliError} may have beside its code and message. */
interface CliErrorOptions {
  readonly exitCode?: ExitCode;
  /** What is wrong with a policy. */
  readonly issues?: readonly Issue[];
  readonly cause?: unknown;
}

/** A mistake that is reported in a few plain lines. `code` is for programs that read `--json`. */
export class CliError extends Error {
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly issues: readonly Issue[] | undefined;

  constructor(code: string, message: string, { exitCode = EXIT.failed, issues, cause }: CliErrorOptions = {}) {
    super(message, { cause });
    this.name = "CliError";
    this.code = code;
    this.exitCode = exitCode;
    this.issues = issues;
  }
}

/** For arguments and options that make no sense. */
export function usageError(message: string): CliError {
  return new CliError("ERR_USAGE", message, { exitCode: EXIT.usage });
}

/** What an error that was not made here ends the command line with. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof ProblemError) return error.code === "invalid_policy" ? EXIT.negative : EXIT.failed;
  if (!(error instanceof IntentlockError)) return EXIT.failed;
  if (error.code === "ERR_INVALID_POLICY") return EXIT.negative;
  return error.code === "ERR_INVALID_OPTIONS" ? EXIT.usage : EXIT.failed;
}
