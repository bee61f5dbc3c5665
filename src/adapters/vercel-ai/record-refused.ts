import type { ToolCallRepairFunction, ToolSet } from "ai";
import type { Session } from "../../session/index.ts";
import { loadAi } from "./load-ai.ts";

type Repair = ToolCallRepairFunction<ToolSet>;
type Request = Parameters<Repair>[0];
type RepairedCall = NonNullable<Awaited<ReturnType<Repair>>>;

/**
 * Puts calls on record that the SDK refuses by itself, before anything else is asked: of tools that there are not, and with
 * arguments that the tool's schema rejects. The SDK asks for a repair of each of them.
 *
 * @param own the application's repair, which comes first
 */
export function recordRefused(session: Session, own: Repair | undefined): Repair {
  return async (request) => {
    let isRepaired = false;
    try {
      const repaired = (await own?.(request)) ?? null;
      isRepaired = repaired !== null && (await isServable(repaired, request));
      return isRepaired ? repaired : null;
    } finally {
      if (!isRepaired) await record(session, request);
    }
  };
}

async function record(session: Session, { toolCall, error }: Request): Promise<void> {
  const { NoSuchToolError } = await loadAi();
  const refusal = NoSuchToolError.isInstance(error)
    ? ({ reason: "unknown_tool", detail: "the model was offered no such tool" } as const)
    : ({ reason: "invalid_args", detail: "the tool's schema rejects the arguments" } as const);
  const { toolCallId: callId, toolName: tool, input } = toolCall;
  await session.run({ callId, tool, args: parseInput(input), refusal }, () => undefined);
}

/** Whether the SDK takes a repaired call: it asks once, and a second failure is one that nobody is told of. */
async function isServable({ toolName, input }: RepairedCall, { tools }: Request): Promise<boolean> {
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  if (!tool) return false;
  const { asSchema } = await loadAi();
  const result = await asSchema<unknown>(tool.inputSchema).validate?.(parseInput(input));
  return result === undefined || result.success;
}

/** What is not JSON stays the text that it is. */
function parseInput(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
