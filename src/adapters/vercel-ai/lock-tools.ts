import type { ToolExecutionOptions, ToolSet } from "ai";
import { fingerprintTool, IntentlockError } from "../../core/index.ts";
import type { RunResult, Session, SessionCall } from "../../session/index.ts";
import { BlockedError } from "./blocked-error.ts";
import { type AnyTool, assertCovered, findGaps, readToolCaller } from "./coverage.ts";
import { describeTool } from "./describe-tool.ts";

export interface LockToolsOptions {
  readonly session: Session;
  /** Tools that may stay without a check of their calls, by name: those that the gate cannot see. */
  readonly allowUngated?: readonly string[];
}

/**
 * The same tools, each of whose calls is checked by the session before it runs. The set is frozen: a tool that is added to
 * a copy of it is not locked, and `locked.settings.toolApproval` of `withIntentlock` refuses it.
 *
 * @throws IntentlockError `ERR_UNGATED_TOOLS` for tools that the gate cannot see
 */
export function lockTools<const T extends ToolSet>(tools: T, options: LockToolsOptions): T {
  const { session, allowUngated = [] } = options;
  const gaps = findGaps(tools);
  assertCovered(gaps, allowUngated);
  const ungated = new Set(gaps.map(({ name }) => name));
  const locked: object = Object.create(Object.getPrototypeOf(tools) as object | null);
  for (const [name, tool] of Object.entries(tools)) {
    // Defined, not assigned: a tool may be called __proto__.
    const value = ungated.has(name) ? tool : lockTool(name, tool, session);
    Object.defineProperty(locked, name, { value, enumerable: true });
  }
  return Object.freeze(locked) as T;
}

/** The checks that `lockTools` made, by the function that makes them: a copy of a locked tool is as good as the tool. */
const locks = new WeakMap<object, { readonly name: string; readonly session: Session }>();

/** Whether a call of this tool is checked, under this name, by this session. */
export function isLocked(tool: AnyTool | undefined, name: string, session: Session): boolean {
  const lock = tool && locks.get(tool.execute ?? tool);
  return lock?.name === name && lock.session === session;
}

function lockTool(name: string, tool: AnyTool, session: Session): AnyTool {
  // Locked twice, a call would wait for itself.
  if (isLocked(tool, name, session)) return tool;
  const fixed = fixProperties(tool);
  return lockAs({
    name,
    tool: fixed,
    self: tool,
    session,
    fingerprint: once(async () => fingerprintTool(await describeTool(name, fixed))),
  });
}

/**
 * The tool with what its getters say now: the model is told what was fingerprinted. Copied by descriptors, since the SDK
 * marks tools with properties that a spread would lose.
 */
function fixProperties(tool: AnyTool): AnyTool {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(tool) as Record<string, PropertyDescriptor>);
  if (descriptors.every(([, { get }]) => get === undefined)) return tool;
  const fixed = descriptors.map(([key, { enumerable = false }]) => [
    key,
    { value: Reflect.get(tool, key), enumerable },
  ]);
  return Object.create(
    Object.getPrototypeOf(tool) as object,
    Object.fromEntries(fixed) as PropertyDescriptorMap,
  ) as AnyTool;
}

interface ToLock {
  readonly name: string;
  readonly tool: AnyTool;
  /** What methods of the tool have as `this`. */
  readonly self: AnyTool;
  readonly session: Session;
  readonly fingerprint: () => Promise<string>;
}

function lockAs(toLock: ToLock): AnyTool {
  const { name, tool, session } = toLock;
  // The SDK marks tools with properties that a spread would lose, and that cannot be redefined afterwards.
  const properties = Object.getOwnPropertyDescriptors(tool) as Record<string, PropertyDescriptor>;
  const { execute } = tool;
  if (typeof execute === "function") {
    properties["execute"] = { value: lockExecute(toLock, execute), enumerable: true };
  }
  const caller = readToolCaller(tool);
  const bind = caller?.bind;
  if (caller && bind) {
    // What runs the code is made anew for each run, with a description of its own. What was signed is the caller.
    const bound = (inner: ToolSet): AnyTool => {
      const runner = bind.call(caller, nestTools(inner, session));
      return lockAs({ ...toLock, tool: runner, self: runner });
    };
    properties["experimental_toolCaller"] = { value: { ...caller, bind: bound } };
  }
  const locked = Object.freeze(Object.create(Object.getPrototypeOf(tool) as object, properties) as AnyTool);
  locks.set(locked.execute ?? locked, { name, session });
  return locked;
}

/** The options of calls that run: a tool that hands them on to another tool, or to itself, makes a call of its own. */
const running = new WeakSet<object>();

function nameCall(options: Options | undefined): string {
  const id = options?.toolCallId;
  if (!options || id === undefined) return crypto.randomUUID();
  return running.has(options) ? `${id}:${crypto.randomUUID()}` : id;
}

type Execute = NonNullable<AnyTool["execute"]>;
type Options = ToolExecutionOptions<unknown>;

function lockExecute({ name, self, session, fingerprint }: ToLock, execute: Execute): Execute {
  const original = (args: unknown, options: Options): unknown => {
    if (options) running.add(options);
    return Reflect.apply(execute, self, [args, options]);
  };
  async function toCall(args: unknown, options: Options | undefined): Promise<SessionCall> {
    return {
      callId: nameCall(options),
      tool: name,
      args,
      fingerprint: await fingerprint(),
      signal: options?.abortSignal,
    };
  }
  // The SDK tells by what is returned whether a result comes in parts: each kind of function stays what it is.
  if (isAsyncGeneratorFunction(execute)) {
    return async function* (args: unknown, options: Options) {
      const call = await toCall(args, options);
      return unwrap(yield* session.stream(call, (checked) => original(checked, options) as AsyncIterable<unknown>));
    } as Execute;
  }
  return async (args: unknown, options: Options) => {
    const call = await toCall(args, options);
    return unwrap(await session.run(call, async (checked) => await lastOf(await original(checked, options))));
  };
}

/** The tools that code of a model may call. They are called with the id of the call that runs the code: each gets its own. */
function nestTools(tools: ToolSet, session: Session): ToolSet {
  const nested: Record<string, AnyTool> = {};
  let calls = 0;
  for (const [name, tool] of Object.entries(tools)) {
    if (!isLocked(tool, name, session)) {
      throw new IntentlockError("ERR_UNGATED_TOOLS", `The tool ${name} was not locked and cannot be called from code`);
    }
    const execute = tool.execute as Execute;
    const inner = (args: unknown, options: Options): unknown =>
      Reflect.apply(execute, tool, [args, { ...options, toolCallId: `${options?.toolCallId}:${calls++}` }]);
    const properties = { ...Object.getOwnPropertyDescriptors(tool), execute: { value: inner, enumerable: true } };
    nested[name] = Object.create(Object.getPrototypeOf(tool) as object, properties as PropertyDescriptorMap) as AnyTool;
  }
  return nested;
}

/** The content of a result; an error is thrown, as the SDK wants it. */
function unwrap(result: RunResult<unknown>): unknown {
  if (!result.isError) return result.content;
  // What the tool threw stays the very object that it was.
  throw "error" in result ? result.error : new BlockedError(result.decision);
}

/** A plain function may return an iterable too: the last part is the result. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== "object" || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const part of result as AsyncIterable<unknown>) last = part;
  return last;
}

function isAsyncGeneratorFunction(value: unknown): boolean {
  return value instanceof Object.getPrototypeOf(async function* () {}).constructor;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
