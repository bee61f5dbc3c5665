import { answerBlocked, checkCall, type Gate, type Refusal, refuseCall, type ToolConfig } from "./check-call.ts";
import type { ClientTool } from "./coverage.ts";
import { deriveTool, restoreMethods } from "./derive-tool.ts";
import { wrapText } from "./describe-tool.ts";
import { langchain } from "./langchain-core.ts";
import { lockFunction } from "./lock-function.ts";
import { toModelCall } from "./model-call.ts";
import { readInvoked } from "./tool-said.ts";

type Invoke = (input: unknown, config?: ToolConfig) => Promise<unknown>;

/**
 * A tool that goes its own way from `invoke` to what it does: a class that overrides it, an object of another copy of
 * LangChain. The check sits around it, so that the tool parses once more what was checked. That changes nothing, or the
 * call is refused.
 */
export function lockOpaqueTool(tool: ClientTool, gate: Gate): object {
  const around =
    (method: Invoke): Invoke =>
    async (input, config) => {
      try {
        return await runAround(gate, { method, input, config });
      } catch (error) {
        return answerBlocked(gate, input, error);
      }
    };
  const call: unknown = Reflect.get(tool, "call");
  const inner = ["_call", "func"].flatMap((name) => {
    const value: unknown = Reflect.get(tool, name);
    return typeof value === "function" ? [[name, lockFunction(gate, value as never)]] : [];
  });
  return deriveTool(tool, {
    ...restoreMethods(tool),
    invoke: around(tool.invoke),
    ...(typeof call === "function" && { call: around(call as Invoke) }),
    ...Object.fromEntries(inner),
  });
}

async function runAround(
  gate: Gate,
  {
    method,
    input,
    config,
  }: { readonly method: Invoke; readonly input: unknown; readonly config?: ToolConfig | undefined },
): Promise<unknown> {
  const call = toModelCall(input);
  const refuse = async (refusal: Refusal): Promise<never> => {
    throw await refuseCall(gate, { input, config, refusal });
  };
  const args = await parse(gate.tool, call ? call.args : input, refuse);
  if (toModelCall(args)) await refuse({ reason: "invalid_call", detail: "the arguments cannot be a call themselves" });
  // As LangChain's own tools do: what is not told is in the context of the graph.
  const known = { ...langchain.ensureConfig(config), ...(call && { toolCall: call }) };
  const resultOf = (given: unknown): unknown => readInvoked(gate.tool, given);
  return await checkCall(gate, { args, config: known, resultOf }, (checked) => {
    const parsed = wrapText(checked);
    return Reflect.apply(method, gate.tool, [call ? { ...call, args: parsed } : parsed, config]);
  });
}

/** What the tool's schema makes of arguments, and of its own result. */
async function parse(tool: ClientTool, given: unknown, refuse: (refusal: Refusal) => Promise<never>): Promise<unknown> {
  const schema: unknown = Reflect.get(tool, "schema");
  const args = wrapText(given);
  if (!langchain.isInteropZodSchema(schema)) return args;
  const parse = async (value: unknown): Promise<unknown> => await langchain.interopParseAsync(schema, wrapText(value));
  let parsed: unknown;
  try {
    parsed = await parse(args);
  } catch (error) {
    const detail = error instanceof Error ? error.message : "the schema rejects them";
    return await refuse({ reason: "invalid_args", detail });
  }
  const again = await parse(parsed).catch(() => undefined);
  if (JSON.stringify(again) === JSON.stringify(parsed)) return parsed;
  return await refuse({ reason: "invalid_args", detail: "the tool's schema does not take what it makes of them" });
}
