/** Where a command writes; `process.stdout` is one. */
export interface CliStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** How wide a terminal is. */
  readonly columns?: number;
}

/** Everything of the process that the command line touches, so that it runs in a test as it does in a shell. */
export interface CliIo {
  /** What `mcp` reads from its client; a Node.js stream, as the standard output is one then. */
  readonly stdin?: NodeJS.ReadableStream;
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative paths start here. */
  readonly cwd: string;
  /** Ends `serve` and `mcp`. */
  readonly signal?: AbortSignal;
}

/** A variable of the environment; one that is set to nothing is not set. */
export function readEnv({ env }: CliIo, name: string): string | undefined {
  return env[name] || undefined;
}
