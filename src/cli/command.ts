import { type Command, Option } from "commander";
import type { Store } from "../server/store/index.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import { locateStore, type StoreLocation, withStore } from "./locate-store.ts";
import { createPaint, type Paint } from "./output/paint.ts";
import { printJson } from "./output/printable.ts";
import { createProgress, type Progress } from "./output/progress.ts";

/** What a command has found out or done: as data for `--json`, and in words. */
export interface Answer {
  readonly value: unknown;
  /** Whole lines; what came from elsewhere in it is `printable()`. */
  readonly text: string;
  /** The answer is no. */
  readonly negative?: boolean;
}

/** What a command is run with. */
export interface CommandInput<Options> {
  readonly args: readonly string[];
  readonly options: Options;
  readonly io: CliIo;
  readonly json: boolean;
  readonly paint: Paint;
  readonly progress: Progress;
  readonly location: () => StoreLocation;
  /** Opens the server's store for as long as the work takes. */
  readonly withStore: <T>(work: (store: Store) => Promise<T>, options?: { readonly create?: boolean }) => Promise<T>;
  /** Prints an answer before the command ends. */
  readonly show: (answer: Answer) => void;
}

/** One command of the command line. */
export interface CommandSpec<Options> {
  /** Name and arguments, like `create <name>`. */
  readonly usage: string;
  readonly summary: string;
  /** Below the summary in `--help`. */
  readonly details?: string;
  readonly examples: readonly string[];
  readonly options?: readonly Option[];
  /** It works on the server's store. */
  readonly store?: boolean;
  readonly run: (input: CommandInput<Options>) => Promise<Answer | undefined>;
}

/** Registers commands. */
export interface CommandHost {
  readonly io: CliIo;
  /** Hears what each command ends with. */
  readonly end: (code: ExitCode) => void;
}

const EXIT_CODES = `
Exit codes:
  0  done, or yes
  1  the answer is no: not valid, changed, differs
  2  the command was not understood
  3  it could not be done: no database, no such agent, a file that cannot be read
`;

/** Adds a command, with `--json`, `--database` where it needs the store, its examples and the exit codes in its help. */
export function addCommand<Options>(parent: Command, host: CommandHost, spec: CommandSpec<Options>): void {
  const command = parent.command(spec.usage).summary(spec.summary).description(describe(spec));
  for (const option of spec.options ?? []) command.addOption(option);
  if (spec.store) {
    command.option(
      "--database <file|url>",
      "the server's store (default: DATABASE_URL, or ./.intentlock/intentlock.db)",
    );
  }
  command.addOption(new Option("--json", "one JSON document instead of words; errors as JSON too"));
  const examples = spec.examples.map((example) => `  $ intentlock ${example}\n`).join("");
  command.addHelpText("after", `\nExamples:\n${examples}${EXIT_CODES}`);
  command.action(async () => {
    const answer = await runCommand(command, host, spec);
    host.end(answer?.negative ? EXIT.negative : EXIT.ok);
  });
}

async function runCommand<Options>(
  command: Command,
  { io }: CommandHost,
  spec: CommandSpec<Options>,
): Promise<Answer | undefined> {
  const { json = false, database } = command.opts<{ json?: boolean; database?: string }>();
  const paint = createPaint(io, io.stdout);
  const progress = createProgress(io, { json });
  const location = (): StoreLocation => locateStore(database, io);
  const show = ({ value, text }: Answer): void => {
    progress.end();
    io.stdout.write(json ? printJson(value) : text);
  };
  try {
    const answer = await spec.run({
      args: command.processedArgs.flat() as string[],
      // Commander has made of them what the options' parsers say.
      options: command.opts() as Options,
      io,
      json,
      paint,
      progress,
      location,
      withStore: (work, { create = false } = {}) => withStore({ ...location(), mustExist: !create }, work),
      show,
    });
    if (answer) show(answer);
    return answer;
  } finally {
    progress.end();
  }
}

function describe({ summary, details }: Pick<CommandSpec<unknown>, "summary" | "details">): string {
  return details === undefined ? toSentence(summary) : `${toSentence(summary)}\n\n${details}`;
}

/** Adds a command that only has others under it. */
export function addGroup(parent: Command, name: string, summary: string): Command {
  return parent.command(name).summary(summary).description(toSentence(summary));
}

function toSentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
