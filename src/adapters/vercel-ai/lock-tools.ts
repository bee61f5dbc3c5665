import type { ToolSet } from "ai";
import { fingerprintTool, IntentlockError } from "../../core/index.ts";
import type { Session, SessionCall } from "../../session/index.ts";
import { needApproval } from "./ask-person.ts";
import { type AnyTool, assertCovered, findGaps, readToolCaller } from "./coverage.ts";
import { describeTool } from "./describe-tool.ts";
import { type Execute, type ExecuteOptions, lockExecute, type ToLock } from "./lock-execute.ts";

export interface LockToolsOptions {
  /**
   * With `onHold: "suspend"`, calls that a person has to approve end the step with the SDK's request for an approval. Where
   * a `toolApproval` of yours stands in for the tools' own settings, they are answered that they wait.
   */
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

/** What a tool's calls are checked as. */
export type Lock = Pick<ToLock, "name" | "session" | "fingerprint">;

/** The checks that `lockTools` made, by the function that makes them: a copy of a locked tool is as good as the tool. */
const locks = new WeakMap<object, Lock>();

/** The lock of a tool whose calls are checked, under this name, by this session; undefined for any other. */
export function findLock(tool: AnyTool | undefined, name: string, session: Session): Lock | undefined {
  const lock = tool && locks.get(tool.execute ?? tool);
  return lock?.name === name && lock.session === session ? lock : undefined;
}

function lockTool(name: string, tool: AnyTool, session: Session): AnyTool {
  // Locked twice, a call would wait for itself.
  if (findLock(tool, name, session)) return tool;
  const fingerprint = once(async () => fingerprintTool(await describeTool(name, locked)));
  const locked = lockAs({ name, tool, session, fingerprint });
  return locked;
}

function lockAs(toLock: ToLock): AnyTool {
  const { name, tool, session, fingerprint } = toLock;
  const properties = readProperties(tool);
  const { execute } = tool;
  if (typeof execute === "function") {
    properties["execute"] = { value: lockExecute(toLock, execute), enumerable: true };
    const toCall = async (callId: string, args: unknown): Promise<SessionCall> => ({
      callId,
      tool: name,
      args,
      fingerprint: await fingerprint(),
    });
    const value = needApproval(tool, session, toCall);
    if (value !== undefined) properties["needsApproval"] = { value, enumerable: true };
  }
  const caller = readToolCaller(tool);
  const bind = caller?.bind;
  if (caller && bind) {
    // What runs the code is made anew for each run, with a description of its own. What was signed is the caller.
    const bound = (inner: ToolSet): AnyTool =>
      lockAs({ ...toLock, tool: bind.call(caller, nestTools(inner, session)) });
    properties["experimental_toolCaller"] = { value: { ...caller, bind: bound } };
  }
  const locked = Object.freeze(Object.create(Object.getPrototypeOf(tool) as object, properties) as AnyTool);
  locks.set(locked.execute ?? locked, { name, session, fingerprint });
  return locked;
}

/**
 * A tool's own properties, with what its getters say now: the model is told what is fingerprinted. As descriptors, since the
 * SDK marks tools with properties that a spread would lose, and that cannot be redefined afterwards.
 */
function readProperties(tool: AnyTool): Record<PropertyKey, PropertyDescriptor> {
  const properties: Record<PropertyKey, PropertyDescriptor> = Object.getOwnPropertyDescriptors(tool);
  for (const key of Reflect.ownKeys(properties)) {
    const { get, enumerable = false } = properties[key] ?? {};
    if (get) properties[key] = { value: Reflect.get(tool, key), enumerable };
  }
  return properties;
}

/** The tools that code of a model may call. They are called with the id of the call that runs the code: each gets its own. */
function nestTools(tools: ToolSet, session: Session): ToolSet {
  const nested: Record<string, AnyTool> = {};
  let calls = 0;
  for (const [name, tool] of Object.entries(tools)) {
    if (!findLock(tool, name, session)) {
      throw new IntentlockError("ERR_UNGATED_TOOLS", `The tool ${name} was not locked and cannot be called from code`);
    }
    const execute = tool.execute as Execute;
    const inner = (args: unknown, options: ExecuteOptions): unknown =>
      Reflect.apply(execute, tool, [args, { ...options, toolCallId: `${options?.toolCallId}:${calls++}` }]);
    const properties = { ...Object.getOwnPropertyDescriptors(tool), execute: { value: inner, enumerable: true } };
    nested[name] = Object.create(Object.getPrototypeOf(tool) as object, properties as PropertyDescriptorMap) as AnyTool;
  }
  return nested;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
