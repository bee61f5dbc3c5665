import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  type ServerCapabilities,
} from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import { goalOf, PlanLock } from "../src/adapters/mcp/proxy/plan-lock.ts";
import { ProxyConnection, type ProxyOptions } from "../src/adapters/mcp/proxy/proxy-connection.ts";
import type { Plan } from "../src/core/index.ts";
import { LocalGate, MemoryAuditSink } from "../src/gates/index.ts";
import { type SessionEvent, type SessionOptions, startSession } from "../src/session/index.ts";
import { ALICE, aPolicy } from "./builders.ts";

/** A `tools/call` request; what is undefined in `over` is left out. */
export function aRequest(over: object = {}): Record<string, unknown> {
  const params = { name: "send_money", arguments: { to: "landlord", amount: 20 } };
  return { jsonrpc: "2.0", id: "call-1", method: "tools/call", params, ...over };
}

export function aRequestText(over: object = {}): string {
  return JSON.stringify(aRequest(over));
}

type Extra = Parameters<Parameters<Server["setRequestHandler"]>[1]>[1];

/** A tool of a server, as it lists it, and what it does. */
export interface ServedTool {
  readonly listed: { readonly name: string; readonly [key: string]: unknown };
  readonly run?: (args: unknown, extra: Extra) => unknown;
}

export interface Served {
  readonly server: Server;
  /** What has run, with which arguments. */
  readonly runs: [tool: string, args: unknown][];
  /** What it lists from now on. */
  tools: readonly ServedTool[];
  readonly transport: Transport;
}

export function aServedTool(over: Partial<ServedTool["listed"]> = {}, run?: ServedTool["run"]): ServedTool {
  const properties = { to: { type: "string" }, amount: { type: "number" } };
  const listed = {
    name: "send_money",
    description: "Sends money",
    inputSchema: { type: "object", properties },
    ...over,
  };
  return { listed, ...(run && { run }) };
}

/** A server of the official SDK in this process, that says whatever a test wants it to. */
export async function serve(
  tools: readonly ServedTool[] = [aServedTool()],
  capabilities: ServerCapabilities = {},
): Promise<Served> {
  const [transport, inner] = InMemoryTransport.createLinkedPair();
  const info = { name: "bank", version: "1" };
  const server = new Server(info, {
    capabilities: { tools: { listChanged: true }, logging: {}, ...capabilities },
    instructions: "Obey",
  });
  const served: Served = { server, runs: [], tools, transport };
  server.setRequestHandler(
    ListToolsRequestSchema,
    () => ({ tools: served.tools.map(({ listed }) => listed) }) as never,
  );
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }, extra) => {
    served.runs.push([name, args]);
    const tool = served.tools.find(({ listed }) => listed.name === name);
    const given = (await tool?.run?.(args, extra as Extra)) ?? `ran with ${JSON.stringify(args)}`;
    return (typeof given === "string" ? { content: [{ type: "text", text: given }] } : given) as never;
  });
  await server.connect(inner);
  onTestFinished(() => server.close());
  return served;
}

/** What a client sends and reads, as it goes over the wire. */
export interface RawClient {
  readonly received: JSONRPCMessage[];
  /** Sends a request and gives its answer. */
  ask(method: string, params?: object, id?: string | number): Promise<Record<string, unknown>>;
  tell(method: string, params?: object): Promise<void>;
  /** Answers a request of the server. */
  answer: (method: string, params: unknown) => object;
  close(): Promise<void>;
}

export async function aRawClient(transport: Transport): Promise<RawClient> {
  // In the order in which they were asked: ids may be used twice.
  const waiting = new Map<unknown, ((message: never) => void)[]>();
  const client: RawClient = {
    received: [],
    ask: async (method, params, id = crypto.randomUUID()) => {
      const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(id, [...(waiting.get(id) ?? []), resolve]);
      await transport.send({ jsonrpc: "2.0", id, method, ...(params && { params }) } as JSONRPCMessage);
      return await promise;
    },
    tell: async (method, params) =>
      await transport.send({ jsonrpc: "2.0", method, ...(params && { params }) } as JSONRPCMessage),
    answer: () => ({ error: { code: -32_601, message: "no" } }),
    close: () => transport.close(),
  };
  transport.onmessage = (message) => {
    client.received.push(message);
    if (!("method" in message)) waiting.get(message.id)?.shift()?.(message as never);
    else if ("id" in message) {
      const reply = client.answer(message.method, message.params);
      void transport.send({ jsonrpc: "2.0", id: message.id, ...reply } as JSONRPCMessage);
    }
  };
  await transport.start();
  return client;
}

export async function initialize(client: RawClient, capabilities: object = {}): Promise<Record<string, unknown>> {
  const clientInfo = { name: "test", version: "1" };
  const answer = await client.ask("initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo });
  await client.tell("notifications/initialized");
  return answer;
}

export interface Proxied extends Served {
  readonly client: RawClient;
  readonly connection: ProxyConnection;
  readonly lock: PlanLock;
  readonly audit: MemoryAuditSink;
  readonly events: SessionEvent[];
  readonly log: string[];
  /** What `initialize` was answered with. */
  readonly initialized: Record<string, unknown>;
  /** Calls a tool; gives the text that a model reads. */
  call(args?: object, over?: { readonly tool?: string; readonly id?: string }): Promise<string>;
}

export interface ProxySetup extends Partial<Pick<ProxyOptions, "allow" | "denyAs">> {
  readonly served?: Served;
  /** Without it, the model declares one. */
  readonly plan?: Plan | undefined;
  readonly session?: Partial<SessionOptions>;
  readonly capabilities?: object;
}

/** The lock of a `LocalGate` that allows what is planned, with all that is told and recorded. */
export function aLock({
  plan,
  session,
}: Pick<ProxySetup, "plan" | "session">): Pick<Proxied, "lock" | "audit" | "events"> {
  const audit = new MemoryAuditSink();
  const events: SessionEvent[] = [];
  const gate = new LocalGate({ policy: aPolicy(), audit });
  const lock = new PlanLock(async (given, tools, signal) => {
    const task = goalOf(given);
    const onEvent = (event: SessionEvent): void => void events.push(event);
    return await startSession({ gate, user: ALICE, task, tools, plan: given, signal, onEvent, ...session });
  }, plan);
  return { lock, audit, events };
}

/** A client, a proxy with a `LocalGate`, and a server, all in this process. */
export async function aProxy(setup: ProxySetup = {}): Promise<Proxied> {
  const served = setup.served ?? (await serve());
  const { lock, audit, events } = aLock(setup);
  const log: string[] = [];
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const { allow, denyAs } = setup;
  const connection = new ProxyConnection({
    client: theirs,
    server: served.transport,
    lock,
    ...(allow && { allow }),
    ...(denyAs && { denyAs }),
    log: (line) => log.push(line),
  });
  await connection.start();
  const client = await aRawClient(ours);
  onTestFinished(() => connection.close());
  const initialized = await initialize(client, setup.capabilities);
  const call: Proxied["call"] = async (args = { to: "landlord" }, { tool = "send_money", id = "call-1" } = {}) =>
    textOf(await client.ask("tools/call", { name: tool, arguments: args }, id));
  return Object.assign(served, { client, connection, lock, audit, events, log, initialized, call });
}

/** What a model reads of an answer. */
export function textOf(answer: Record<string, unknown>): string {
  const { result, error } = answer as { result?: { content?: { text?: string }[] }; error?: { message: string } };
  return error ? error.message : (result?.content ?? []).map(({ text }) => text ?? "").join("\n");
}

/** The names that a client lists. */
export async function listNames(client: RawClient): Promise<string[]> {
  const { result } = await client.ask("tools/list");
  return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
}
