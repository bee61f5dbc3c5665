import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { z } from "zod";
import { describeTools } from "../../src/adapters/mcp/index.ts";
import { PlanLock } from "../../src/adapters/mcp/proxy/plan-lock.ts";
import { ProxyConnection } from "../../src/adapters/mcp/proxy/proxy-connection.ts";
import { startSession } from "../../src/session/index.ts";
import { ALICE } from "../builders.ts";
import { aRawClient, initialize, listNames, type RawClient, type ServedTool, serve, textOf } from "../mcp.ts";
import { describeFramework } from "./describe-framework.ts";
import type { AgentResult, LockOptions, Mode, TestTool } from "./framework.ts";

describeFramework({
  name: "MCP proxy",
  sharesSession: true,
  transforms: "at the server",
  abortedInTool: "unknown",
  // The protocol has no tools of providers.
  answersAlone: { providerTools: true, plansByCall: true },
  describe: async (tools) => describeTools(tools.map((tool) => toServed(tool).listed as never)),
  lock: async ({ gate, task, tools, plan, declared = [], turns, onEvent, tampering }) => {
    const lock = new PlanLock(
      (given, known, signal) => startSession({ gate, user: ALICE, task, tools: known, plan: given, signal, onEvent }),
      plan,
    );
    const served = tools.map(toServed);
    const first = await connect(lock, served, "generate");
    if (!plan) await declare(first, declared);
    const now = tamper(served, tampering);
    return {
      run: async (mode, signal) => await runTurns(await connect(lock, now, mode), turns, signal),
    };
  },
});

/** A client, and a proxy before a server with these tools. Blocks are results in one mode, and errors in the other. */
async function connect(lock: PlanLock, tools: readonly ServedTool[], mode: Mode): Promise<RawClient> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const { transport } = await serve(tools);
  const denyAs = mode === "stream" ? "error" : "result";
  await new ProxyConnection({ client: theirs, server: transport, lock, denyAs }).start();
  const client = await aRawClient(ours);
  const { error } = (await initialize(client)) as {
    readonly error?: { readonly message: string };
  };
  if (error) throw new Error(error.message);
  return client;
}

/** As a model does: one plan after the other, until one is taken. */
async function declare(client: RawClient, plans: NonNullable<LockOptions["declared"]>): Promise<void> {
  let text = "";
  for (const plan of plans) {
    const answer = await client.ask("tools/call", { name: "declare_plan", arguments: plan as object });
    if (!(answer["result"] as { isError: boolean }).isError) return;
    text = textOf(answer);
  }
  throw new Error(text);
}

async function runTurns(
  client: RawClient,
  turns: LockOptions["turns"],
  signal: AbortSignal | undefined,
): Promise<AgentResult> {
  const asked: AgentResult["asked"][number][] = [];
  const results: AgentResult["results"][number][] = [];
  for (const turn of turns) {
    asked.push({ messages: [], tools: (await listNames(client)).filter((name) => name !== "declare_plan") });
    if ("text" in turn) return { asked, results, text: turn.text };
    const answers = turn.calls.map(async ({ id, tool, args }) => {
      const cancel = (): void => void client.tell("notifications/cancelled", { requestId: id });
      signal?.addEventListener("abort", cancel, { once: true });
      return { id, text: textOf(await client.ask("tools/call", { name: tool, arguments: args }, id)) };
    });
    const gone = Promise.withResolvers<undefined>();
    signal?.addEventListener("abort", () => gone.resolve(undefined), { once: true });
    const given = await Promise.race([Promise.all(answers), gone.promise]);
    if (!given) return { asked, results, text: undefined, error: signal?.reason };
    results.push(...given);
  }
  return { asked, results, text: undefined };
}

/** A tool as a server has it: its schema is checked there again, and makes of the arguments what the tool gets. */
function toServed({ name, description, schema, run }: TestTool): ServedTool {
  const inputSchema = z.toJSONSchema(schema, { io: "input" });
  return {
    listed: { name, description, inputSchema },
    run: async (args, { signal }) => {
      try {
        return String(await lastOf(await run(schema.parse(args), signal)));
      } catch (error) {
        return { content: [{ type: "text", text: (error as Error).message }], isError: true };
      }
    },
  };
}

async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== "object" || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const part of result as AsyncIterable<unknown>) last = part;
  return last;
}

function tamper(tools: readonly ServedTool[], tampering: LockOptions["tampering"]): readonly ServedTool[] {
  if (!tampering) return tools;
  const { kind } = tampering;
  const evil = toServed(tampering.evil);
  switch (kind) {
    case "added":
      return [...tools, evil];
    case "swapped":
      // A server that says nothing else of another tool cannot be found out.
      return [{ ...evil, listed: { ...evil.listed, description: "Pays somebody else" } }];
    case "spread":
      return tools.map((one) => ({ ...one, listed: { ...one.listed } }));
    case "renamed":
      return tools.map((one) => ({ ...one, listed: { ...one.listed, name: evil.listed.name } }));
    default:
      return kind satisfies never;
  }
}
