import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import type { ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type BlockReason, isJsonObject, type Json, type JsonObject } from "../../core/index.ts";
import { BlockedError, type RunResult, type Session, type SessionCall } from "../../session/index.ts";
import type { ClientTool } from "./coverage.ts";
import { fingerprintNow, wrapText } from "./describe-tool.ts";
import { announceLocked, runInsideTool } from "./gated-context.ts";
import { langchain } from "./langchain-core.ts";

type RunManager = CallbackManagerForToolRun | undefined;
type ToolConfig = RunnableConfig & { readonly toolCall?: ModelCall; readonly toolCallId?: string };

/** A call as the model has made it. */
interface ModelCall {
  readonly id?: string;
  readonly args: unknown;
}

/** The part of a tool that runs once its arguments are parsed. */
interface StructuredTool extends ClientTool {
  readonly func?: (...parts: unknown[]) => unknown;
  readonly toJSON: () => object;
  readonly _call: (args: unknown, runManager?: RunManager, config?: ToolConfig) => unknown;
}

/** A runnable under the name of a tool. */
interface RunnableTool extends ClientTool {
  readonly schema: unknown;
  readonly bound: { readonly invoke: (input: unknown, config?: RunnableConfig) => Promise<unknown> };
}

interface Gate {
  readonly name: string;
  readonly tool: ClientTool;
  readonly session: Session;
}

const locks = new WeakMap<object, Session>();
const namesBySession = new WeakMap<Session, Set<string>>();

/** Whether this session has a locked tool of the name: no other of that name may run in its place. */
export function hasLocked(session: Session, name: string): boolean {
  return namesBySession.get(session)?.has(name) === true;
}

/** The same tool, each of whose calls the session checks, on every way to its implementation. */
export function lockTool<T extends ClientTool>(tool: T, session: Session): T {
  if (locks.get(tool) === session) return tool;
  const gate = { name: tool.name, tool, session };
  const locked = isStructuredTool(tool) ? lockStructuredTool(tool, gate) : lockRunnable(tool, gate);
  locks.set(locked, session);
  const names = namesBySession.get(session) ?? new Set();
  namesBySession.set(session, names.add(tool.name));
  return locked as T;
}

function isStructuredTool(tool: ClientTool): tool is StructuredTool {
  return typeof Reflect.get(tool, "_call") === "function" && typeof Reflect.get(tool, "toJSON") === "function";
}

/**
 * The check sits in `_call`, behind the one place where LangChain parses arguments. Methods run on the original, whose
 * `#private` fields a derived object does not have.
 */
function lockStructuredTool(tool: StructuredTool, gate: Gate): object {
  const check = async (args: unknown, runManager?: RunManager, config?: ToolConfig): Promise<unknown> =>
    await runChecked(gate, { args, config }, async (checked) => {
      const result = await tool._call(checked, runManager, withCheckedArgs(config, checked));
      return await drain(result, runManager);
    });
  const locked = derive(tool, {
    toJSON: () => announceLocked(tool.toJSON()),
    _call: check,
    invoke: async (input: unknown, config?: ToolConfig): Promise<unknown> => {
      // An object per call, to know of each whether it came as far as its check.
      let isParsed = false;
      const once = derive(locked, {
        _call: (...parts: Parameters<typeof check>) => {
          isParsed = true;
          return check(...parts);
        },
      });
      try {
        return await Reflect.apply(tool.invoke, once, [input, config]);
      } catch (error) {
        const blocked =
          !isParsed && error instanceof langchain.ToolInputParsingException
            ? await refuse(gate, { input, config, reason: "invalid_args", detail: error.message })
            : error;
        return answerBlocked(gate, input, blocked);
      }
    },
    ...(typeof tool.func === "function" && {
      func: async (args: unknown, ...rest: readonly unknown[]): Promise<unknown> =>
        await runChecked(gate, { args, config: findConfig(rest) }, (checked) =>
          Reflect.apply(tool.func ?? tool._call, tool, [checked, ...rest]),
        ),
    }),
  });
  return locked;
}

/** Every method of a runnable that is bound to another goes to the one that it is bound to: that one is checked. */
function lockRunnable(tool: ClientTool, gate: Gate): object {
  const run = isRunnableTool(tool) ? tool.bound.invoke.bind(tool.bound) : tool.invoke.bind(tool);
  const check = async (input: unknown, config?: RunnableConfig): Promise<unknown> => {
    const call = toModelCall(input);
    try {
      const args = call ? await parse(gate, input, config) : wrapText(input);
      return await runChecked(gate, { args, config: { ...config, ...(call && { toolCall: call }) } }, (checked) => {
        // As no call of a model: it would be parsed again, or taken apart once more.
        if (toModelCall(checked)) throw new TypeError("The arguments of a tool cannot be a call themselves");
        return run(checked, config);
      });
    } catch (error) {
      return answerBlocked(gate, input, error);
    }
  };
  if (!isRunnableTool(tool)) return derive(tool, { invoke: check });
  return derive(tool, { bound: langchain.RunnableLambda.from(check).withConfig({ runName: gate.name }) });
}

function isRunnableTool(tool: ClientTool): tool is RunnableTool {
  return typeof (Reflect.get(tool, "bound") as { readonly invoke?: unknown } | undefined)?.invoke === "function";
}

async function parse(gate: Gate, input: unknown, config: RunnableConfig | undefined): Promise<unknown> {
  const schema: unknown = Reflect.get(gate.tool, "schema");
  const args = toModelCall(input)?.args;
  if (!langchain.isInteropZodSchema(schema)) return wrapText(args);
  try {
    return wrapText(await langchain.interopParseAsync(schema, args));
  } catch (error) {
    const detail = error instanceof Error ? error.message : "the schema rejects them";
    throw await refuse(gate, { input, config, reason: "invalid_args", detail });
  }
}

/** @returns what the tool gives @throws BlockedError, or what the tool throws */
async function runChecked(
  { name, tool, session }: Gate,
  { args, config }: { readonly args: unknown; readonly config: ToolConfig | undefined },
  implementation: (checked: unknown) => unknown,
): Promise<unknown> {
  const isText = typeof args !== "object" || args === null;
  const call: SessionCall = {
    callId: config?.toolCall?.id ?? config?.toolCallId ?? crypto.randomUUID(),
    tool: name,
    args: wrapText(args),
    isParsed: true,
    fingerprint: fingerprintNow(tool),
    signal: config?.signal,
    replayKey: readTaskId(config),
  };
  const run = (checked: JsonObject): unknown =>
    runInsideTool(() => implementation(isText ? checked["input"] : checked));
  return unwrap(await session.run(call, run, { isSuspension: isInterrupt }));
}

/** Puts a call on record that does not get as far as its check. */
export async function refuse(
  { name, session }: Pick<Gate, "name" | "session">,
  request: {
    readonly input: unknown;
    readonly config?: ToolConfig | undefined;
    readonly reason: BlockReason;
    readonly detail: string;
  },
): Promise<unknown> {
  const { input, config, reason, detail } = request;
  const call = toModelCall(input);
  const callId = call?.id ?? config?.toolCall?.id ?? crypto.randomUUID();
  const args = wrapText(call ? call.args : input);
  const result = await session.run({ callId, tool: name, args, refusal: { reason, detail } }, () => undefined);
  return result.isError ? new BlockedError(result.decision) : undefined;
}

function unwrap(result: RunResult<unknown>): unknown {
  if (!result.isError) return result.content;
  // What the tool threw stays the very object that it was.
  throw "error" in result ? result.error : new BlockedError(result.decision);
}

/** A block is an answer for a model that has called, and an error for code that has. */
function answerBlocked({ name }: Gate, input: unknown, error: unknown): ToolMessage {
  const call = toModelCall(input);
  if (!call || !(error instanceof BlockedError)) throw error;
  return toErrorMessage({ name, id: call.id }, error.message);
}

/** What the model reads in place of a result. */
export function toErrorMessage(
  call: { readonly name: string; readonly id?: string | undefined },
  content: string,
): ToolMessage {
  return new langchain.ToolMessage({ content, name: call.name, tool_call_id: call.id ?? "", status: "error" });
}

function toModelCall(input: unknown): ModelCall | undefined {
  const isCall = typeof input === "object" && input !== null && Reflect.get(input, "type") === "tool_call";
  return isCall ? (input as ModelCall) : undefined;
}

/** A tool finds the call in its config, with the arguments as the model wrote them. It gets those that were checked. */
function withCheckedArgs(config: ToolConfig | undefined, checked: unknown): ToolConfig | undefined {
  if (!config?.toolCall) return config;
  return { ...config, toolCall: { ...config.toolCall, args: wrapText(checked) } };
}

/** The configuration among what a tool's function is called with after its arguments. */
function findConfig(parts: readonly unknown[]): ToolConfig | undefined {
  return parts.findLast((part) => isJsonObject(part as Json)) as ToolConfig | undefined;
}

/** LangGraph's name for the run of a node, the same when the node runs again after a resume. */
function readTaskId(config: ToolConfig | undefined): string | undefined {
  const id: unknown = config?.configurable?.["__pregel_task_id"];
  return typeof id === "string" ? id : undefined;
}

/** What `interrupt()` of LangGraph throws, known by its name: LangGraph is not needed here. */
export function isInterrupt(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === "GraphInterrupt" || thrown.name === "NodeInterrupt");
}

/** The result of a tool that gives parts of it before, as LangChain reads it. */
async function drain(result: unknown, runManager: RunManager): Promise<unknown> {
  if (typeof result !== "object" || result === null || typeof Reflect.get(result, "next") !== "function") return result;
  const generator = result as AsyncGenerator<unknown, unknown, void>;
  try {
    let step = await generator.next();
    while (!step.done) {
      try {
        await runManager?.handleToolEvent(step.value);
      } catch (error) {
        await runManager?.handleToolError(error);
      }
      step = await generator.next();
    }
    return step.value;
  } finally {
    await generator.return?.(undefined);
  }
}

/** An object that is the other but for these properties, which a copy of it takes along. */
function derive<T extends object>(original: T, properties: Readonly<Record<string, unknown>>): T {
  return Object.assign(Object.create(original) as T, properties);
}
