import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A call that a model makes, with its arguments, or the text that it has written in place of them. */
export interface ModelCall {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
}

/** What a model says in one turn. */
export interface ModelTurn {
  readonly text?: string;
  readonly calls?: readonly ModelCall[];
  /** It broke off for want of tokens. */
  readonly isCut?: boolean;
}

/** What a server does instead of an answer. */
export type Fault =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly message?: string }
  | "hangs"
  | "says what is no JSON"
  | "breaks off in the middle"
  | "ends too early"
  | "closes the connection";

export type ModelAnswer = ModelTurn | Fault;
/** An answer, or one that depends on what was asked. */
export type ModelScript = ModelAnswer | ((request: ModelRequest) => ModelAnswer);

export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was asked.
  readonly body: any;
}

/** The API of a provider of models: how it writes what a model says, and where it is told the results of calls. */
export interface Dialect {
  readonly name: string;
  readonly path: string;
  readonly write: (turn: ModelTurn) => object;
  /** The same, in pieces. */
  readonly writeEvents: (turn: ModelTurn) => readonly string[];
  readonly writeError: (message: string) => object;
  /** What the model was told of its calls, in their order. */
  readonly readResults: (request: ModelRequest) => readonly { readonly id: string; readonly text: string }[];
  /** Whether the model was forced to call a tool. */
  readonly isForced: (request: ModelRequest) => boolean;
}

export interface ModelServer {
  readonly url: string;
  /** Every request, in its order. */
  readonly requests: readonly ModelRequest[];
  readonly close: () => Promise<void>;
}

/** A server on this machine that speaks a provider's API: one answer after the other, and the last one again and again. */
export async function aModelServer(dialect: Dialect, ...script: readonly ModelScript[]): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (message, response) => {
    const request = await readRequest(message);
    const next = script[Math.min(requests.length, script.length - 1)] ?? {};
    requests.push(request);
    answer(dialect, response, { request, answer: typeof next === "function" ? next(request) : next });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readRequest(message: IncomingMessage): Promise<ModelRequest> {
  let text = "";
  for await (const chunk of message) text += chunk;
  return { path: message.url ?? "", headers: message.headers, body: JSON.parse(text) };
}

function answer(
  dialect: Dialect,
  response: ServerResponse,
  { request, answer }: { readonly request: ModelRequest; readonly answer: ModelAnswer },
): void {
  const isKnown = request.path === dialect.path;
  const said: ModelAnswer = isKnown ? answer : { status: 404, message: "no such path" };
  switch (said) {
    case "hangs":
      return;
    case "closes the connection":
      response.destroy();
      return;
    case "says what is no JSON":
      send(response, { request, json: '{"id": "1", "choices": [', events: ["data: {\n\n"] });
      return;
    case "breaks off in the middle":
    case "ends too early":
      cutOff(dialect, response, { request, isClean: said === "ends too early" });
      return;
    default:
      if ("status" in said) sendError(dialect, response, said);
      else send(response, { request, json: JSON.stringify(dialect.write(said)), events: dialect.writeEvents(said) });
  }
}

interface Written {
  readonly request: ModelRequest;
  readonly json: string;
  readonly events: readonly string[];
}

function send(response: ServerResponse, { request, json, events }: Written): void {
  const isStream = request.body.stream === true;
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  response.end(isStream ? events.join("") : json);
}

function sendError(dialect: Dialect, response: ServerResponse, fault: Exclude<Fault, string>): void {
  response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
  response.end(JSON.stringify(dialect.writeError(fault.message ?? "it went wrong")));
}

/** A call of a tool, of which the last part is missing. Cleanly: the connection says that this was all. */
function cutOff(
  dialect: Dialect,
  response: ServerResponse,
  { request, isClean }: { readonly request: ModelRequest; readonly isClean: boolean },
): void {
  const turn = { calls: [{ id: "cut", tool: "pay", args: { to: "landlord", amount: 20 } }] };
  const events = request.body.stream ? dialect.writeEvents(turn) : [];
  const json = JSON.stringify(dialect.write(turn));
  const isStream = request.body.stream === true;
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  const start = isStream ? events.slice(0, -3).join("") : json.slice(0, json.length / 2);
  if (isClean) response.end(start);
  else response.write(start, () => response.destroy());
}

const USAGE = { input: 10, output: 5 };

/** As OpenAI's chat completions have it, and every server that is compatible with them. */
export const OPENAI: Dialect = {
  name: "an OpenAI-compatible server",
  path: "/v1/chat/completions",
  write: ({ text, calls = [], isCut }) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_800_000_000,
    model: "test-model",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text ?? null,
          ...(calls.length > 0 && { tool_calls: calls.map(writeOpenAiCall) }),
        },
        finish_reason: isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop",
      },
    ],
    usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output },
  }),
  writeEvents: ({ text, calls = [], isCut }) => {
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1_800_000_000,
        model: "test-model",
        choices: [{ index: 0, delta, finish_reason }],
      })}\n\n`;
    return [
      chunk({ role: "assistant", content: text ?? null }),
      ...calls.flatMap((call, index) => {
        const { function: named, ...rest } = writeOpenAiCall(call);
        const middle = Math.floor(named.arguments.length / 2);
        return [
          chunk({ tool_calls: [{ index, ...rest, function: { name: named.name, arguments: "" } }] }),
          chunk({ tool_calls: [{ index, function: { arguments: named.arguments.slice(0, middle) } }] }),
          chunk({ tool_calls: [{ index, function: { arguments: named.arguments.slice(middle) } }] }),
        ];
      }),
      chunk({}, isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop"),
      "data: [DONE]\n\n",
    ];
  },
  writeError: (message) => ({ error: { message, type: "server_error", param: null, code: null } }),
  readResults: ({ body }) =>
    (body.messages as readonly { role: string; tool_call_id: string; content: string }[])
      .filter(({ role }) => role === "tool")
      .map(({ tool_call_id, content }) => ({ id: tool_call_id, text: content })),
  isForced: ({ body }) => typeof body.tool_choice === "object",
};

function writeOpenAiCall({ id, tool, args }: ModelCall) {
  return { id, type: "function", function: { name: tool, arguments: writeArgs(args) } };
}

function writeArgs(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args);
}

/** Anthropic's Messages API. */
export const ANTHROPIC: Dialect = {
  name: "Anthropic's API",
  path: "/v1/messages",
  write: (turn) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "test-model",
    content: listBlocks(turn),
    stop_reason: stopReason(turn),
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  }),
  writeEvents: (turn) => {
    const event = (type: string, data: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
    const message = { id: "msg_1", type: "message", role: "assistant", model: "test-model", content: [] };
    const start = { ...message, stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } };
    return [
      event("message_start", { message: start }),
      ...listBlocks(turn).flatMap((block, index) => {
        const isText = block.type === "text";
        const content_block = isText ? { ...block, text: "" } : { ...block, input: {} };
        const delta = isText
          ? { type: "text_delta", text: block.text }
          : { type: "input_json_delta", partial_json: writeArgs(block.input) };
        return [
          event("content_block_start", { index, content_block }),
          event("content_block_delta", { index, delta }),
          event("content_block_stop", { index }),
        ];
      }),
      event("message_delta", {
        delta: { stop_reason: stopReason(turn), stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }),
      event("message_stop", {}),
    ];
  },
  writeError: (message) => ({ type: "error", error: { type: "api_error", message } }),
  readResults: ({ body }) =>
    (body.messages as readonly { content: readonly AnthropicResult[] }[])
      .flatMap(({ content }) => content)
      .filter(({ type }) => type === "tool_result")
      .map(({ tool_use_id, content }) => ({ id: tool_use_id, text: textOf(content) })),
  isForced: ({ body }) => body.tool_choice?.type === "tool",
};

interface AnthropicResult {
  readonly type: string;
  readonly tool_use_id: string;
  readonly content: string | readonly { readonly text: string }[];
}

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

function listBlocks({ text, calls = [] }: ModelTurn): Block[] {
  const blocks: Block[] = calls.map(({ id, tool: name, args: input }) => ({ type: "tool_use", id, name, input }));
  return text === undefined ? blocks : [{ type: "text", text }, ...blocks];
}

function stopReason({ calls = [], isCut }: ModelTurn): string {
  return isCut ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
}

function textOf(content: AnthropicResult["content"]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

export const DIALECTS: readonly Dialect[] = [OPENAI, ANTHROPIC];
