import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { loadMcpSdk, type McpSdk, type Transport } from "../../adapters/mcp/proxy/load-mcp-sdk.ts";
import { ProxyConnection } from "../../adapters/mcp/proxy/proxy-connection.ts";
import { IntentlockError } from "../../core/index.ts";
import { CliError } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { listen } from "./listen.ts";
import { Locks } from "./locks.ts";
import { openGate } from "./open-gate.ts";
import type { McpOptions, ProxySettings, ServerSettings } from "./proxy-settings.ts";
import { readPlanFile } from "./read-plan-file.ts";

/** Results of tools may be large; the SDK's own bound is 10 MiB. */
const MAX_MESSAGE_BYTES = 67_108_864;

export interface ProxyRun {
  readonly options: McpOptions;
  readonly settings: ProxySettings;
  readonly io: CliIo;
}

/** Runs the proxy until its client hangs up, or it is told to stop. @throws CliError, IntentlockError */
export async function runProxy(run: ProxyRun): Promise<void> {
  const { options, settings, io } = run;
  // On stdio the other stream is the protocol's.
  const log = (line: string): void => void io.stderr.write(`intentlock: ${printable(line)}\n`);
  const waitMs = options.wait * 1000;
  const plan = settings.planFile === undefined ? undefined : await readPlanFile(settings.planFile, io);
  const sdk = await loadMcpSdk();
  const gate = await openGate(settings.gate, { io, waitMs });
  const locks = new Locks({ gate, plan, waitMs, log, user: settings.user, task: options.task });
  const connect = (client: Transport, callIdPrefix = ""): ProxyConnection => {
    const lock = locks.next();
    const server = openServer(settings.server, sdk, io);
    const { denyAs, allow } = options;
    const connection = new ProxyConnection({
      client,
      server,
      lock,
      denyAs,
      callIdPrefix,
      log,
      ...(allow && { allow }),
    });
    void connection.ended.then(() => locks.drop(lock));
    return connection;
  };
  try {
    if (options.listen === undefined) await serveStdio(connect, { sdk, io });
    else {
      const { listen: port } = options;
      const listening = await listen({ port, sdk, log, connect: (client, number) => connect(client, `${number}/`) });
      log(`listens at ${listening.url}`);
      await untilStopped(io);
      await listening.close();
    }
  } finally {
    try {
      await locks.close();
    } finally {
      await gate.close();
    }
  }
}

async function serveStdio(
  connect: (client: Transport) => ProxyConnection,
  { sdk, io }: { readonly sdk: McpSdk; readonly io: CliIo },
): Promise<void> {
  const stdin = io.stdin as Readable;
  const client = new sdk.StdioServerTransport(stdin, io.stdout as unknown as Writable, {
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  const connection = connect(client);
  const hangUp = (): void => void connection.close();
  // The transport does not see that its client is gone.
  stdin.once("end", hangUp).once("close", hangUp);
  io.signal?.addEventListener("abort", hangUp, { once: true });
  try {
    await connection.start();
  } catch (cause) {
    await connection.close();
    throw new CliError("ERR_MCP_SERVER", `The server cannot be started: ${messageOf(cause)}`, { cause });
  }
  if (stdin.readableEnded || io.signal?.aborted) hangUp();
  const error = await connection.ended;
  if (error instanceof IntentlockError) throw error;
  if (error) throw new CliError("ERR_MCP_SERVER", error.message, { cause: error });
}

function openServer(settings: ServerSettings, sdk: McpSdk, io: CliIo): Transport {
  if (settings.kind === "command") {
    const { command, args, env } = settings;
    return new sdk.StdioClientTransport({
      command,
      args: [...args],
      env,
      cwd: io.cwd,
      stderr: "inherit",
      maxBufferSize: MAX_MESSAGE_BYTES,
    });
  }
  const { url, token } = settings;
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new sdk.HttpClientTransport(url, { requestInit: { headers } }) as Transport;
}

async function untilStopped({ signal }: CliIo): Promise<void> {
  if (!signal) await new Promise(() => undefined);
  else if (!signal.aborted) await once(signal, "abort");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
