import { once } from "node:events";
import { type Command, Option } from "commander";
import { pino } from "pino";
import { IntentlockError } from "../../core/index.ts";
import { createFirstAdmin, needsFirstAdmin } from "../../server/people/first-admin.ts";
import { FIRST_LINK_MS } from "../../server/people/sign-in.ts";
import { type RunningServer, startServer } from "../../server/serve.ts";
import { openStore, type Store } from "../../server/store/index.ts";
import { addCommand, type CommandHost, type CommandInput } from "../command.ts";
import { CliError, EXIT, usageError } from "../exit-codes.ts";
import { readEnv } from "../io.ts";
import { createOperator, DEFAULT_PORT } from "../operator.ts";
import { numberOption, parseEmail, publicUrlOption, readEmail } from "../options.ts";
import { printServing, type Serving } from "../output/print-serving.ts";

interface ServeOptions {
  readonly port: number;
  readonly host: string;
  readonly publicUrl?: string;
  readonly admin?: string;
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}

export function addServeCommand(program: Command, host: CommandHost): void {
  addCommand<ServeOptions>(program, host, {
    usage: "serve",
    summary: "run the server",
    details:
      "The first start wants --admin: it adds that person as the first administrator, and prints a link that signs them\n" +
      "in, once. Logs are JSON lines on the error stream. Ctrl-C ends it when what is under way is done.",
    examples: [
      "serve --admin you@example.com",
      "serve --host 0.0.0.0 --port 8080 --public-url https://lock.example.com",
      "serve --database postgres://intentlock@db.internal/intentlock",
    ],
    options: [
      numberOption("--port <number>", "where it listens; 0: any that is free", [0, 65_535]).default(DEFAULT_PORT),
      new Option("--host <address>", "where it listens").default("127.0.0.1"),
      publicUrlOption("where people and agents reach it (default: INTENTLOCK_PUBLIC_URL, or where it listens)"),
      new Option("--admin <email>", "the first administrator (default: INTENTLOCK_ADMIN)").argParser(parseEmail),
      new Option("--log-level <level>", "how much is logged")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("info"),
    ],
    store: true,
    run: async (input) => {
      const { location, io, show } = input;
      const store = await openStore(location().options);
      const running = await start(store, input);
      try {
        const serving = await welcome(running, input);
        show({ value: serving, text: printServing(serving, { host: input.options.host, paint: input.paint }) });
        if (!io.signal?.aborted) await (io.signal ? once(io.signal, "abort") : new Promise(() => {}));
      } finally {
        await running.close();
      }
      return undefined;
    },
  });
}

/** Listens. The store is closed with the server, or if there is none. */
async function start(store: Store, { options, io }: CommandInput<ServeOptions>): Promise<RunningServer> {
  const { port, host, logLevel } = options;
  const publicUrl = options.publicUrl ?? readEnv(io, "INTENTLOCK_PUBLIC_URL");
  try {
    if ((await needsFirstAdmin({ store })) && readAdmin(options.admin, io) === undefined) {
      throw usageError("Nobody administers this server yet.\nSay who does: intentlock serve --admin you@example.com");
    }
  } catch (error) {
    await store.close();
    throw error;
  }
  const log = pino({ level: logLevel }, { write: (line: string) => void io.stderr.write(line) });
  try {
    return await startServer({ store, port, host, log, publicUrl });
  } catch (error) {
    if (!(error instanceof IntentlockError) || error.cause === undefined) throw error;
    throw new CliError("ERR_LISTEN", `${error.message}: end what listens there, or give another --port.`, {
      exitCode: EXIT.failed,
      cause: error,
    });
  }
}

/** What the server says of itself; for the first administrator with a link. */
async function welcome({ server, url }: RunningServer, input: CommandInput<ServeOptions>): Promise<Serving> {
  const { io, options, location } = input;
  const { store, publicUrl } = server.context;
  const serving = { url, publicUrl, store: location().shown };
  const email = readAdmin(options.admin, io);
  if (email === undefined) return serving;
  const link = await createFirstAdmin(createOperator(store, io, publicUrl), email);
  return link === undefined ? serving : { ...serving, admin: { email, link, expiresInSeconds: FIRST_LINK_MS / 1000 } };
}

function readAdmin(given: string | undefined, io: CommandInput<ServeOptions>["io"]): string | undefined {
  const text = given ?? readEnv(io, "INTENTLOCK_ADMIN");
  return text === undefined ? undefined : readEmail(text);
}
