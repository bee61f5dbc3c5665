import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

/** A call that a model makes. The arguments are the very object that the message has. */
export interface ModelCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: unknown;
}

/** What a model says in one step; a message stays what it is. */
export type Reply =
  | string
  | readonly ModelCall[]
  | AIMessage
  | ((messages: readonly BaseMessage[]) => string | readonly ModelCall[]);

/** A request that a model got. */
export interface ModelRequest {
  readonly messages: readonly BaseMessage[];
  readonly tools: readonly string[];
  readonly toolChoice: unknown;
}

/** A chat model that says one reply after the other, and the last one again and again; the same streamed. */
export class ScriptedChatModel extends BaseChatModel {
  readonly requests: ModelRequest[];
  readonly #replies: Reply[];
  readonly #tools: readonly string[];
  readonly #toolChoice: unknown;

  constructor(
    replies: readonly Reply[],
    bound?: { root: ScriptedChatModel; tools: readonly string[]; choice: unknown },
  ) {
    super({});
    this.requests = bound?.root.requests ?? [];
    this.#replies = bound ? bound.root.#replies : [...replies];
    this.#tools = bound?.tools ?? [];
    this.#toolChoice = bound?.choice;
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: BindToolsInput[], options: { readonly tool_choice?: unknown } = {}): ScriptedChatModel {
    const names = tools.map((tool) => {
      const { name, type } = tool as { readonly name?: string; readonly type?: string };
      return name ?? (type === "function" ? convertToOpenAITool(tool as never).function.name : String(type));
    });
    return new ScriptedChatModel([], { root: this, tools: names, choice: options.tool_choice });
  }

  async _generate(messages: BaseMessage[], _options: unknown, _run?: CallbackManagerForLLMRun): Promise<ChatResult> {
    const message = this.#next(messages);
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const { content, tool_calls = [], additional_kwargs, id } = this.#next(messages);
    const message = new AIMessageChunk({ content, tool_calls, additional_kwargs, ...(id && { id }) });
    yield new ChatGenerationChunk({ text: message.text, message });
  }

  #next(messages: BaseMessage[]): AIMessage {
    this.requests.push({ messages: [...messages], tools: this.#tools, toolChoice: this.#toolChoice });
    const reply = (this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0]) ?? "";
    const said = typeof reply === "function" ? reply(messages) : reply;
    if (said instanceof AIMessage) return said;
    if (typeof said === "string") return new AIMessage(said);
    const calls = said as readonly ModelCall[];
    const tool_calls = calls.map(({ id, name, args = {} }) => ({
      type: "tool_call" as const,
      id: id ?? `${name}-1`,
      name,
      args: args as Record<string, unknown>,
    }));
    return new AIMessage({ content: "", tool_calls });
  }
}

/** What a model was last given as the results of its calls, since the last message of a user. */
export function listResults(model: ScriptedChatModel): ToolMessage[] {
  const messages = model.requests.at(-1)?.messages ?? [];
  const last = messages.findLastIndex((message) => message.getType() === "human");
  return messages.slice(last + 1).filter((message) => ToolMessage.isInstance(message));
}
