import type { Gate } from "../../gates/gate.ts";
import type { Session } from "../../session/index.ts";
import { assertCovered, findGaps } from "./coverage.ts";
import { type AnyTool, fingerprintNow, toToolName } from "./describe-tool.ts";
import { runCall } from "./run-call.ts";
import { type Context, runsOf } from "./runs.ts";
import type { ToolContext } from "./tool-context.ts";

export type LockToolsOptions = {
  /** Tools that may stay without a check of their calls, by name: those that the gate cannot see. */
  readonly allowUngated?: readonly string[];
} & (
  | { readonly session: Session; readonly gate?: undefined }
  /** The session of each call is that of its run, which `intentlockAgent` begins. */
  | { readonly gate: Gate; readonly session?: undefined }
);

type Execute = (args: unknown, context?: ToolContext) => unknown;

/**
 * The same tools, each of whose calls is checked before it runs, on every way to `execute`. The set is frozen.
 *
 * @param tools by the names under which the agent gets them, or a function that gives them
 * @throws IntentlockError `ERR_UNGATED_TOOLS` for tools that the gate cannot see
 *
 * @example
 * import { Agent } from "@mastra/core/agent";
 * import { LocalGate } from "intentlock/gates";
 * import { intentlockAgent, lockTools } from "intentlock/mastra";
 *
 * const gate = new LocalGate({ policy });
 * const agent = new Agent({
 *   id: "helper",
 *   name: "Helper",
 *   instructions: "You help.",
 *   model: "openai/gpt-5",
 *   tools: lockTools(mastraTools, { gate }),
 *   ...intentlockAgent({ gate }),
 * });
 */
export function lockTools<T extends object>(tools: T, options: LockToolsOptions): T {
  if (typeof tools === "function") {
    const lockLater = async (...parts: unknown[]): Promise<object> =>
      lockSet((await Reflect.apply(tools, undefined, parts)) as object, options);
    return lockLater as T;
  }
  return lockSet(tools, options) as T;
}

function lockSet(tools: object, options: LockToolsOptions): object {
  const set = tools as Readonly<Record<string, AnyTool>>;
  const gaps = findGaps(set);
  assertCovered(gaps, options.allowUngated ?? []);
  const ungated = new Set(gaps.map(({ name }) => name));
  const locked: object = Object.create(Object.getPrototypeOf(tools) as object | null);
  for (const [key, tool] of Object.entries(set)) {
    // Defined, not assigned: a tool may be called __proto__.
    const value = ungated.has(key) ? tool : lockTool(toToolName(key), tool, options);
    Object.defineProperty(locked, key, { value, enumerable: true });
  }
  return Object.freeze(locked);
}

function lockTool(name: string, tool: AnyTool, { session, gate }: LockToolsOptions): AnyTool {
  const original = Reflect.get(tool, "execute") as Execute;
  if (gate) runsOf(gate).noteLocked(name);
  const execute: Execute = async (args, context) => {
    const call = { name, tool, args, context };
    // Without the fingerprint where a run has begun with another layer's description of the tool, made for its model.
    const own = session
      ? { session, fingerprint: await fingerprintNow(name, tool) }
      : { session: await runsOf(gate).find(context?.requestContext as Context | undefined) };
    return await runCall({ ...call, ...own }, (checked) => Reflect.apply(original, tool, [checked, context]));
  };
  return withProperties(tool, { execute });
}

/** A copy with other properties: by descriptors, since a spread loses some of a tool's own. */
export function withProperties(tool: AnyTool, others: Readonly<Record<string, unknown>>): AnyTool {
  const properties: Record<PropertyKey, PropertyDescriptor> = Object.getOwnPropertyDescriptors(tool);
  for (const [name, value] of Object.entries(others)) properties[name] = { value, enumerable: true };
  return Object.freeze(Object.create(Object.getPrototypeOf(tool) as object | null, properties) as AnyTool);
}
