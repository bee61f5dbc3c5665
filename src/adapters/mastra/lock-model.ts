import { IntentlockError } from "../../core/index.ts";
import type { Session } from "../../session/index.ts";
import { providerRan } from "../../session/setup-errors.ts";
import type { AnyTool } from "./describe-tool.ts";
import { noteModelCall } from "./model-calls.ts";

/** A model of the AI SDK's specification, as Mastra calls it. */
interface Model {
  readonly doGenerate?: (options: CallOptions) => Promise<Answer>;
  readonly doStream?: (options: CallOptions) => Promise<Answer>;
}

interface CallOptions {
  readonly tools?: readonly { readonly name: string; readonly providerOptions?: object }[];
}

/** Mastra's own models give a stream with the content. */
interface Answer {
  readonly content?: readonly Part[];
  readonly stream?: ReadableStream<Part>;
}

interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly providerExecuted?: boolean;
}

export interface ModelLock {
  readonly session: Session;
  /** The tools that the model may be asked with, by their names. */
  readonly tools: Readonly<Record<string, AnyTool>>;
  readonly allowUngated: readonly string[];
}

/** Which tool the options are of: Mastra hands them on as the object that they are, and nothing else of a tool. */
const brands = new WeakMap<object, string>();

/** What is to be the `providerOptions` of a locked tool, for the model to know it by. */
export function brandOptions(name: string, options: unknown): object {
  const branded = { ...(typeof options === "object" ? options : undefined) };
  brands.set(branded, name);
  return branded;
}

/**
 * The model, which refuses to be asked with tools that were not locked: what a `prepareStep` puts in comes after every
 * processor, and skips hooks too. It takes down which calls the model makes, and puts those on record that Mastra answers
 * by itself, of tools that there are not.
 */
export function lockModel<M>(model: M, lock: ModelLock): M {
  if (typeof model !== "object" || model === null) return model;
  const original = model as Model;
  const wrap = (method: keyof Model) => ({
    value: async (options: CallOptions): Promise<unknown> => {
      assertLocked(options, lock);
      const answer = await original[method]?.(options);
      if (!answer) return answer;
      const { content, stream } = answer;
      // Where there is both, the stream was made of the content.
      if (!content && stream) return { ...answer, stream: stream.pipeThrough(inspectAll(lock)) };
      for (const part of content ?? []) await inspect(part, lock);
      return answer;
    },
  });
  return Object.create(model, { doGenerate: wrap("doGenerate"), doStream: wrap("doStream") }) as M;
}

function assertLocked({ tools = [] }: CallOptions, { allowUngated }: ModelLock): void {
  const isLocked = ({ name, providerOptions }: (typeof tools)[number]): boolean =>
    allowUngated.includes(name) || (providerOptions !== undefined && brands.get(providerOptions) === name);
  const names = tools.filter((tool) => !isLocked(tool)).map(({ name }) => name);
  if (names.length === 0) return;
  throw new IntentlockError(
    "ERR_UNGATED_TOOLS",
    `These tools came after Intentlock's lock: ${names.join(", ")}. Give them to the agent, or as a toolset, and not through prepareStep.`,
  );
}

function inspectAll(lock: ModelLock): TransformStream<Part, Part> {
  return new TransformStream({
    transform: async (part, controller) => {
      await inspect(part, lock);
      controller.enqueue(part);
    },
  });
}

/** @throws IntentlockError `ERR_UNGATED_TOOLS` if the provider ran a tool that nobody allowed, after the fact */
async function inspect(part: Part, { session, tools, allowUngated }: ModelLock): Promise<void> {
  const { type, toolName: name = "", toolCallId: callId = "", providerExecuted } = part;
  const isExecuted = type === "tool-result" || (type === "tool-call" && providerExecuted === true);
  if (isExecuted && !allowUngated.includes(name)) {
    throw providerRan(name);
  }
  if (type !== "tool-call" || isExecuted) return;
  if (isKnown(tools, name)) return noteModelCall(session, callId);
  const refusal = { reason: "unknown_tool", detail: "the agent has no such tool" } as const;
  await session.run({ callId, tool: name, args: readInput(part.input), refusal }, () => undefined);
}

/** A model may also call a tool by its id. */
function isKnown(tools: ModelLock["tools"], name: string): boolean {
  return Object.hasOwn(tools, name) || Object.values(tools).some((tool) => Reflect.get(tool, "id") === name);
}

function readInput(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
