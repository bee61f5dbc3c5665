import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { describeThrown } from "../../../session/describe-thrown.ts";
import type { JsonRpcId } from "../tool-verdict.ts";

/** Parameters and results as they came: nothing is believed of what is in them. */
export type Members = Readonly<Record<string, unknown>>;

/** What a request is answered with. */
export type Reply = { readonly result: Members } | { readonly error: ReplyError };

export interface ReplyError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A request of the other side. */
export interface PeerRequest {
  readonly id: JsonRpcId;
  readonly method: string;
  readonly params: Members | undefined;
  /** The other side has cancelled it, or is gone. */
  readonly signal: AbortSignal;
}

export interface PeerHandlers {
  readonly answer: (request: PeerRequest) => Promise<Reply>;
  readonly hear: (method: string, params: Members | undefined) => void;
  readonly closed: () => void;
  readonly trouble: (error: Error) => void;
}

export interface AskOptions {
  /** Cancels it at the other side, too. */
  readonly signal?: AbortSignal;
}

/** No reply came. `reached` is false only if the other side has never had the request. */
export class NoReply extends Error {
  readonly reached: boolean;

  constructor(message: string, { reached, cause }: { readonly reached: boolean; readonly cause?: unknown }) {
    super(message, { cause });
    this.reached = reached;
  }
}

/** More requests at a time than these are not taken up. */
const MAX_REQUESTS = 256;

/** One side of a connection: requests in both directions, each under ids of whoever asks, and notifications. */
export class Peer {
  readonly #transport: Transport;
  readonly #handlers: PeerHandlers;
  readonly #asked = new Map<JsonRpcId, { resolve: (reply: Reply) => void; reject: (error: NoReply) => void }>();
  readonly #answering = new Map<JsonRpcId, AbortController>();
  readonly #answers = new Set<Promise<void>>();
  #nextId = 0;
  #isClosed = false;

  constructor(transport: Transport, handlers: PeerHandlers) {
    this.#transport = transport;
    this.#handlers = handlers;
  }

  async start(): Promise<void> {
    this.#transport.onmessage = (message) => this.#receive(message);
    this.#transport.onclose = () => this.#end();
    this.#transport.onerror = (error) => this.#handlers.trouble(error);
    await this.#transport.start();
  }

  async close(): Promise<void> {
    await this.#transport.close();
    this.#end();
  }

  /** Settles when every request that has come is answered. */
  async answered(): Promise<void> {
    await Promise.allSettled(this.#answers);
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version);
  }

  /** @throws NoReply */
  async ask(method: string, params: Members | undefined, { signal }: AskOptions = {}): Promise<Reply> {
    if (this.#isClosed || signal?.aborted) throw new NoReply("The request was not sent", { reached: false });
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#asked.set(id, { resolve, reject });
    const cancel = (): void => {
      this.tell("notifications/cancelled", { requestId: id });
      reject(new NoReply("The request was cancelled", { reached: true }));
    };
    signal?.addEventListener("abort", cancel, { once: true });
    const message = { jsonrpc: "2.0", id, method, ...(params && { params }) } as JSONRPCMessage;
    this.#transport.send(message).catch((cause: unknown) => {
      const why = describeThrown(cause).slice(0, 200);
      reject(new NoReply(`The request could not be sent: ${why}`, { reached: !wasNeverSent(cause), cause }));
    });
    try {
      return await promise;
    } finally {
      this.#asked.delete(id);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** @param about the request of theirs that it is about */
  tell(method: string, params: Members | undefined, about?: JsonRpcId): void {
    this.#send({ jsonrpc: "2.0", method, ...(params && { params }) } as JSONRPCMessage, about);
  }

  #receive(message: JSONRPCMessage): void {
    if (!("method" in message)) {
      const reply = "result" in message ? { result: message.result } : { error: message.error };
      if (message.id !== undefined) this.#asked.get(message.id)?.resolve(reply);
      return;
    }
    const { method, params } = message;
    if ("id" in message) this.#takeUp(message.id, method, params);
    else if (method === "notifications/cancelled") this.#answering.get(params?.["requestId"] as JsonRpcId)?.abort();
    else this.#handlers.hear(method, params);
  }

  #takeUp(id: JsonRpcId, method: string, params: Members | undefined): void {
    if (this.#answers.size >= MAX_REQUESTS) {
      this.#send({ jsonrpc: "2.0", id, error: { code: -32_000, message: "Too many requests at a time" } });
      return;
    }
    const answer = this.#answer(id, method, params).finally(() => this.#answers.delete(answer));
    this.#answers.add(answer);
  }

  async #answer(id: JsonRpcId, method: string, params: Members | undefined): Promise<void> {
    const abort = new AbortController();
    // The second of two under one id is cancelled with neither.
    const isFirst = !this.#answering.has(id);
    if (isFirst) this.#answering.set(id, abort);
    let reply: Reply;
    try {
      reply = await this.#handlers.answer({ id, method, params, signal: abort.signal });
    } catch (error) {
      this.#handlers.trouble(error instanceof Error ? error : new Error("A request could not be answered"));
      reply = { error: { code: -32_603, message: "Internal error" } };
    } finally {
      if (isFirst) this.#answering.delete(id);
    }
    // Nobody waits for the answer to a request that was cancelled.
    if (!abort.signal.aborted) this.#send({ jsonrpc: "2.0", id, ...reply } as JSONRPCMessage, id);
  }

  #send(message: JSONRPCMessage, about?: JsonRpcId): void {
    if (this.#isClosed) return;
    const related = about === undefined ? {} : { relatedRequestId: about };
    this.#transport.send(message, related).catch((error: Error) => this.#handlers.trouble(error));
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { reject } of this.#asked.values()) reject(new NoReply("The connection was closed", { reached: true }));
    for (const abort of this.#answering.values()) abort.abort();
    this.#handlers.closed();
  }
}

/** What the transports fail with before anything has left this machine. */
const NOT_CONNECTED = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = (error.cause as { readonly code?: unknown } | undefined)?.code;
  return error.message === "Not connected" || (typeof code === "string" && NOT_CONNECTED.includes(code));
}
