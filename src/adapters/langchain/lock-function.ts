import { isJsonObject, type Json } from "../../core/index.ts";
import { checkCall, type Gate, type ToolConfig } from "./check-call.ts";

type AnyFunction = (...parts: unknown[]) => unknown;

/** A function of a tool that takes parsed arguments, and runs with those that were checked. */
export function lockFunction(gate: Gate, original: AnyFunction): AnyFunction {
  return async (args, ...rest) =>
    await checkCall(gate, { args, config: findConfig(rest) }, (checked) =>
      Reflect.apply(original, gate.tool, [checked, ...rest]),
    );
}

/** The configuration among what a tool's function is called with after its arguments. */
function findConfig(parts: readonly unknown[]): ToolConfig | undefined {
  return parts.findLast((part) => isJsonObject(part as Json)) as ToolConfig | undefined;
}
