import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { DECLARE_PLAN } from "../../../core/index.ts";
import { describeThrown } from "../../../session/describe-thrown.ts";
import type { JsonRpcId } from "../tool-verdict.ts";
import { type CallDenial, type ForwardOptions, forwardCall } from "./forward-call.ts";
import { type Members, NoReply, Peer, type PeerRequest, type Reply } from "./peer.ts";
import { declarePlanTool, type PlanLock } from "./plan-lock.ts";
import { ServerTools } from "./server-tools.ts";
import { type Passing, WhatPasses } from "./what-passes.ts";

export interface ProxyOptions {
  /** The side of the client, and that of the server. Neither has been started. */
  readonly client: Transport;
  readonly server: Transport;
  readonly lock: PlanLock;
  /** What passes beside tool calls. */
  readonly allow?: Iterable<Passing>;
  /** How a blocked call is answered. Default: `result`, which a model reads. */
  readonly denyAs?: CallDenial;
  /** Put before request ids to make call ids: two clients may use the same. */
  readonly callIdPrefix?: string;
  /** Hears what a person who runs the proxy should know, a line each. */
  readonly log?: (line: string) => void;
}

/** The versions of the protocol whose messages are known here. */
const VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** What a server lists that does not know of tools. */
const NO_TOOLS: Reply = { result: { tools: [] } };

/** How often a client hears that a call waits. */
const WAIT_MS = 10_000;

/** One client, its server, and the lock between them. */
export class ProxyConnection {
  readonly #options: ProxyOptions;
  readonly #passes: WhatPasses;
  readonly #client: Peer;
  readonly #server: Peer;
  readonly #tools: ServerTools;
  /** Requests of the client by the tokens under which it wants to hear of their progress. */
  readonly #progress = new Map<unknown, JsonRpcId>();
  readonly #over = new AbortController();
  readonly #ended = Promise.withResolvers<Error | undefined>();
  #handshake: Promise<Reply> | undefined;
  #isReady = false;
  #hasTools = false;
  /** Why it is over: what came first. */
  #reason: { readonly error: Error | undefined } | undefined;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#passes = new WhatPasses(options.allow);
    const trouble = (side: string) => (error: Error) => this.#log(`${side}: ${error.message}`);
    this.#client = new Peer(options.client, {
      answer: (request) => this.#answerClient(request),
      hear: (method, params) => this.#hearClient(method, params),
      closed: () => void this.#end(undefined),
      trouble: trouble("client"),
    });
    this.#server = new Peer(options.server, {
      answer: (request) => this.#answerServer(request),
      hear: (method, params) => this.#hearServer(method, params),
      closed: () => void this.#end(new Error("The server has closed the connection")),
      trouble: trouble("server"),
    });
    this.#tools = new ServerTools({
      ask: async (method, params) => (this.#hasTools ? await this.#server.ask(method, params) : NO_TOOLS),
      leaveOut: (line) => this.#log(`tool ${line}`),
    });
  }

  /** Settles when the connection is over and its calls are on record: with an error unless the client has ended it. */
  get ended(): Promise<Error | undefined> {
    return this.#ended.promise;
  }

  /** @throws Error if the server cannot be started or reached */
  async start(): Promise<void> {
    await this.#server.start();
    await this.#client.start();
  }

  async close(): Promise<void> {
    await this.#end(undefined);
  }

  async #end(reason: Error | undefined): Promise<void> {
    this.#reason ??= { error: reason };
    // Nobody is asked any more about calls that could not run; those that have been sent are answered before it is over.
    this.#over.abort();
    await this.#server.close().catch(() => undefined);
    await this.#client.answered();
    await this.#client.close().catch(() => undefined);
    this.#ended.resolve(this.#reason.error);
  }

  async #answerClient(request: PeerRequest): Promise<Reply> {
    const { method, params, signal } = request;
    if (method === "ping") return { result: {} };
    if (method === "initialize") {
      if (this.#handshake) return refusal("The connection is initialised already");
      this.#handshake = this.#initialize(params);
      return await this.#handshake;
    }
    if (!this.#isReady) return refusal("The connection is not initialised");
    if (method === "tools/list") return await this.#listTools();
    if (method === "tools/call") return await this.#call(request);
    if (!this.#passes.request("client", method)) return notFound(this.#passes.explain("client", method));
    return await relay(() => this.#server.ask(method, params, { signal }));
  }

  async #answerServer({ method, params, signal }: PeerRequest): Promise<Reply> {
    if (method === "ping") return { result: {} };
    if (!this.#passes.request("server", method)) return notFound(this.#passes.explain("server", method));
    return await relay(() => this.#client.ask(method, params, { signal }));
  }

  #hearClient(method: string, params: Members | undefined): void {
    if (this.#passes.notification("client", method)) this.#server.tell(method, params);
  }

  #hearServer(method: string, params: Members | undefined): void {
    if (method === "notifications/progress") {
      const about = this.#progress.get(params?.["progressToken"]);
      if (about !== undefined) this.#client.tell(method, params, about);
    } else if (method === "notifications/tools/list_changed") {
      // From here on calls wait until it is known what has changed.
      this.#tools.refresh().catch((error: unknown) => this.#log(describeThrown(error)));
      this.#client.tell(method, params);
    } else if (this.#passes.notification("server", method)) this.#client.tell(method, params);
  }

  async #initialize(params: Members | undefined): Promise<Reply> {
    try {
      const { lock } = this.#options;
      const capabilities = this.#passes.capabilities("client", params?.["capabilities"]);
      const { protocolVersion: wanted, clientInfo } = params ?? {};
      const asked = { protocolVersion: wanted, capabilities, clientInfo };
      const reply = await this.#server.ask("initialize", asked);
      if ("error" in reply) return reply;
      const { protocolVersion, capabilities: offered, serverInfo, instructions } = reply.result;
      if (typeof protocolVersion !== "string" || !VERSIONS.includes(protocolVersion)) {
        throw new Error("The server speaks a version of the protocol that is not known here");
      }
      this.#server.setProtocolVersion(protocolVersion);
      this.#server.tell("notifications/initialized", undefined);
      const given = this.#passes.capabilities("server", offered);
      this.#hasTools = given["tools"] !== undefined;
      await lock.begin(await this.#tools.refresh());
      this.#isReady = true;
      const told = this.#passes.has("instructions") && instructions !== undefined ? { instructions } : {};
      const known = { ...given, tools: { listChanged: true } };
      return { result: { protocolVersion, capabilities: known, serverInfo, ...told } };
    } catch (error) {
      // Nothing will ever be allowed: whoever runs the proxy has to see why.
      const reason = error instanceof Error ? error : new Error(describeThrown(error));
      setTimeout(() => void this.#end(reason), 100).unref?.();
      return { error: { code: -32_000, message: `Intentlock did not start: ${reason.message}` } };
    }
  }

  /** The tools as they were signed, less those that say something else now: a client never reads what nobody has signed. */
  async #listTools(): Promise<Reply> {
    const { lock } = this.#options;
    const now = await this.#tools.refresh();
    const shown = [...(lock.signed?.pinned ?? now)].flatMap(([name, { listed, fingerprint }]) =>
      now.get(name)?.fingerprint === fingerprint ? [listed] : [],
    );
    return { result: { tools: lock.isDeclared ? [declarePlanTool(now), ...shown] : shown } };
  }

  async #call(request: PeerRequest): Promise<Reply> {
    const { id, params } = request;
    const meta = params?.["_meta"] as Members | null | undefined;
    const progressToken = meta?.["progressToken"];
    const decided = progressToken === undefined ? () => undefined : this.#tellOfWait(progressToken, id);
    if (progressToken !== undefined) this.#progress.set(progressToken, id);
    const signal = AbortSignal.any([request.signal, this.#over.signal]);
    try {
      if (this.#options.lock.isDeclared && params?.["name"] === DECLARE_PLAN)
        return await this.#declare(params, signal);
      return await this.#forward({ ...request, signal }, async (call) => {
        decided();
        const sent = progressToken === undefined ? call : { ...call, _meta: { progressToken } };
        return await this.#server.ask("tools/call", sent, { signal: request.signal });
      });
    } finally {
      decided();
      if (this.#progress.get(progressToken) === id) this.#progress.delete(progressToken);
    }
  }

  async #declare(params: Members, signal: AbortSignal): Promise<Reply> {
    const tools = await this.#tools.current();
    const { text, isError } = await this.#options.lock.declare(params["arguments"], tools, signal);
    return { result: { content: [{ type: "text", text }], isError } };
  }

  async #forward(request: PeerRequest, forward: ForwardOptions["forward"]): Promise<Reply> {
    const { lock, denyAs = "result", callIdPrefix = "" } = this.#options;
    const now = await this.#tools.current().catch(() => new Map());
    return await forwardCall(request, {
      signed: lock.signed,
      now,
      callId: `${callIdPrefix}${request.id}`,
      denyAs,
      forward,
    });
  }

  /**
   * Tells the client that a call waits, as for a person: it may be one that is patient as long as it hears something.
   *
   * @returns ends it
   */
  #tellOfWait(progressToken: unknown, about: JsonRpcId): () => void {
    let times = 0;
    const timer = setInterval(() => {
      // Progress has to grow, and what the server will tell of its own begins with more than this.
      const progress = ++times / 1_000_000;
      this.#client.tell("notifications/progress", { progressToken, progress, message: "Waits to be decided" }, about);
    }, WAIT_MS);
    return () => clearInterval(timer);
  }

  #log(line: string): void {
    this.#options.log?.(line);
  }
}

/** A reply that does not come is an error for whoever asked. */
async function relay(ask: () => Promise<Reply>): Promise<Reply> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NoReply) return { error: { code: -32_000, message: error.message } };
    throw error;
  }
}

function refusal(message: string): Reply {
  return { error: { code: -32_600, message } };
}

function notFound(message: string): Reply {
  return { error: { code: -32_601, message } };
}
