import { isJsonObject } from "../../core/index.ts";
import type { Session } from "../../session/index.ts";
import { type AnyTool, fingerprintNow } from "./describe-tool.ts";
import { brandOptions } from "./lock-model.ts";
import { withProperties } from "./lock-tools.ts";
import { runCall } from "./run-call.ts";
import type { ToolContext } from "./tool-context.ts";

/** The fingerprints of tools as the model is told of them, which are made once for a run. */
const prints = new WeakMap<AnyTool, Promise<string>>();

/** The locked tools of a run, by what they were and are called: Mastra comes with the same ones at each step. */
const locks = new WeakMap<Session, WeakMap<AnyTool, Map<string, AnyTool>>>();

/** A tool of a step, as Mastra has made it, which may have a lock of its own inside. */
export function lockStepTool(name: string, tool: AnyTool, session: Session): AnyTool {
  const tools = locks.get(session) ?? new WeakMap<AnyTool, Map<string, AnyTool>>();
  const names = tools.get(tool) ?? new Map<string, AnyTool>();
  const locked = names.get(name) ?? lockAs(name, tool, session);
  locks.set(session, tools.set(tool, names.set(name, locked)));
  return locked;
}

function lockAs(name: string, tool: AnyTool, session: Session): AnyTool {
  const original = Reflect.get(tool, "execute") as (args: unknown, context?: ToolContext) => unknown;
  const providerOptions = brandOptions(name, Reflect.get(tool, "providerOptions"));
  return withProperties(tool, { providerOptions, execute });

  async function execute(given: unknown, context?: ToolContext): Promise<unknown> {
    const print = prints.get(tool) ?? fingerprintNow(name, tool);
    prints.set(tool, print);
    const own = context && { ...context, ...(isApproval(name, context) && { resumeData: undefined }) };
    const args = withoutRunId(given, context);
    const call = { session, name, tool, args, context: own, fingerprint: await print, isOuter: true };
    return await runCall(call, (checked) => Reflect.apply(original, tool, [checked, own]));
  }
}

/** Mastra hands the answer to its own approval to agents as tools, though they have not asked for it. */
function isApproval(name: string, { resumeData, suspendedToolRunId }: ToolContext): boolean {
  if (!name.startsWith("agent-") || suspendedToolRunId !== undefined || !isJsonObject(resumeData)) return false;
  return resumeData["approved"] === true && Object.keys(resumeData).length === 1;
}

/** The arguments as they were: Mastra adds to those of an agent or workflow that goes on what it tells them beside too. */
function withoutRunId(args: unknown, context: ToolContext | undefined): unknown {
  if (context?.suspendedToolRunId === undefined || !isJsonObject(args)) return args;
  const { suspendedToolRunId, ...others } = args;
  return suspendedToolRunId === context.suspendedToolRunId ? others : args;
}
