import type { Passing } from "../../adapters/mcp/proxy/what-passes.ts";
import { usageError } from "../exit-codes.ts";
import { type CliIo, readEnv } from "../io.ts";
import { printable } from "../output/printable.ts";
import { parsePrivateUrl } from "../parse-private-url.ts";

/** The options of `mcp`, as they are on the command line. */
export interface McpOptions {
  readonly policy?: string;
  readonly plan?: string;
  readonly declare?: boolean;
  readonly user?: string;
  readonly task?: string;
  readonly gate: "local" | "hybrid" | "http";
  readonly url?: string;
  readonly apiKeyEnv: string;
  readonly outbox?: string;
  readonly signingKey?: string;
  readonly wait: number;
  readonly server?: string;
  readonly serverTokenEnv?: string;
  readonly listen?: number;
  readonly denyAs: "result" | "error";
  readonly allow?: readonly Passing[];
}

/** The gate that decides. */
export type GateSettings =
  | {
      readonly kind: "local";
      readonly policyFile: string;
      readonly outbox: string | undefined;
      readonly keyFile: string | undefined;
    }
  | {
      readonly kind: "hybrid" | "http";
      readonly url: string;
      readonly apiKey: string;
      readonly outbox: string | undefined;
    };

/** The server that is locked. */
export type ServerSettings =
  | {
      readonly kind: "command";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Record<string, string>;
    }
  | { readonly kind: "url"; readonly url: URL; readonly token: string | undefined };

/** What the options come to. */
export interface ProxySettings {
  readonly user: string;
  /** Undefined: the model declares the plan. */
  readonly planFile: string | undefined;
  readonly gate: GateSettings;
  readonly server: ServerSettings;
}

/** @throws CliError `ERR_USAGE`, saying what to add or to leave out */
export function readSettings(options: McpOptions, command: readonly string[], io: CliIo): ProxySettings {
  const { user } = options;
  const planFile = readPlanChoice(options);
  if (user === undefined) throw usageError("For whom? Add --user you@example.com: the plan is signed for one person.");
  return { user, planFile, gate: readGate(options, io), server: readServer(options, command, io) };
}

function readPlanChoice({ plan, declare = false, gate }: McpOptions): string | undefined {
  if (plan !== undefined && declare)
    throw usageError("Either --plan or --declare: the plan is given, or the model declares it.");
  if (declare && gate === "local") {
    throw usageError(
      "--declare needs a server: a person has to approve what a model declares that may have read anything.\n" +
        "Add --gate hybrid --url https://lock.example.com, or give the plan: --plan plan.json",
    );
  }
  if (plan !== undefined || declare) return plan;
  throw usageError(
    "There is no plan, so nothing would be allowed.\n" +
      "Add --plan plan.json with --policy policy.yaml, or --declare with --gate hybrid --url https://lock.example.com",
  );
}

function readGate(
  { gate: kind, policy, url, apiKeyEnv, outbox, signingKey: keyFile }: McpOptions,
  io: CliIo,
): GateSettings {
  if (kind === "local") {
    if (url !== undefined) throw usageError("--url is for --gate hybrid and --gate http: a local gate has no server.");
    if (policy === undefined)
      throw usageError("What is allowed at all? Add --policy policy.yaml, or --gate hybrid with a server.");
    return { kind, policyFile: policy, outbox, keyFile };
  }
  if (policy !== undefined)
    throw usageError(`--policy is for a local gate: with --gate ${kind} the server has the policy.`);
  if (keyFile !== undefined)
    throw usageError(`--signing-key is for a local gate: with --gate ${kind} the server signs.`);
  if (url === undefined) throw usageError(`--gate ${kind} needs the server: --url https://lock.example.com`);
  if (kind === "http" && outbox !== undefined)
    throw usageError("--outbox is for local and hybrid gates: the server keeps the record.");
  const apiKey = readEnv(io, apiKeyEnv);
  if (apiKey === undefined) {
    throw usageError(
      `The API key is missing: set the variable ${printable(apiKeyEnv)} to what intentlock key create has printed.`,
    );
  }
  return { kind, url, apiKey, outbox };
}

function readServer(
  { server, serverTokenEnv, apiKeyEnv }: McpOptions,
  [command, ...args]: readonly string[],
  io: CliIo,
): ServerSettings {
  if ((server === undefined) === (command === undefined)) {
    throw usageError("Which server is locked? Either a command after --, like -- npx -y some-server, or --server URL.");
  }
  if (command !== undefined) {
    if (serverTokenEnv !== undefined)
      throw usageError("--server-token-env goes with --server: a command has its environment.");
    return { kind: "command", command, args, env: environmentFor(io, apiKeyEnv) };
  }
  const token = serverTokenEnv === undefined ? undefined : readEnv(io, serverTokenEnv);
  if (serverTokenEnv !== undefined && token === undefined)
    throw usageError(`The variable ${printable(serverTokenEnv)} is not set.`);
  return { kind: "url", url: readServerUrl(server as string), token };
}

/** The locked server's environment is the proxy's, without what is Intentlock's: the key of its gate above all. */
function environmentFor({ env }: CliIo, apiKeyEnv: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && entry[0] !== apiKeyEnv && !entry[0].startsWith("INTENTLOCK_"),
    ),
  );
}

function readServerUrl(text: string): URL {
  const url = parsePrivateUrl(text);
  if (url) return url;
  throw usageError("--server: expected an https: URL, or an http: URL on this machine, like http://127.0.0.1:3000/mcp");
}
