import { fingerprintTool, isJsonObject, type Json } from "../../core/index.ts";
import type { SessionTool } from "../../session/index.ts";
import { unwritableSchema } from "../../session/setup-errors.ts";
import { type ClientTool, isClientTool } from "./coverage.ts";
import { langchain } from "./langchain-core.ts";

/**
 * Tools as `startSession` takes them, for a session whose tools `lockTools` locks. Tools that the model's provider runs are
 * left out: no plan can hold their calls.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for a tool whose schema cannot be told to a model
 */
export function describeTools(tools: readonly unknown[]): SessionTool[] {
  return tools.filter(isClientTool).map((tool) => {
    const schema: unknown = Reflect.get(tool, "schema");
    if (!langchain.isInteropZodSchema(schema)) return describeTool(tool);
    const parse = async (args: unknown): Promise<unknown> => wrapText(await langchain.interopParseAsync(schema, args));
    return { ...describeTool(tool), parse };
  });
}

/** The arguments of tools that take a text, as the model writes them. */
export function wrapText(args: unknown): unknown {
  if (typeof args === "object" && args !== null) return args;
  return args === undefined ? {} : { input: args };
}

/** What the model is told of a tool. */
function describeTool(tool: ClientTool): SessionTool {
  const { name } = tool;
  try {
    const { description, parameters } = langchain.convertToOpenAIFunction(tool as never);
    // As it travels to the provider: without what JSON drops.
    const inputSchema = JSON.parse(JSON.stringify(parameters)) as Json;
    if (!isJsonObject(inputSchema)) throw new TypeError("it is none");
    return { name, ...(typeof description === "string" && { description }), inputSchema };
  } catch (cause) {
    throw unwritableSchema(name, cause);
  }
}

interface Print {
  readonly description: unknown;
  /** Of a schema that is JSON, which can change where it is. */
  readonly text: string | undefined;
  readonly print: string;
}

/** By schema: LangChain, too, makes JSON Schema of a schema once. */
const prints = new WeakMap<object, Print>();

/** The fingerprint of what the model is told of a tool now. A tool that cannot be described any more has none that was signed. */
export function fingerprintNow(tool: ClientTool): string {
  try {
    const schema: unknown = Reflect.get(tool, "schema");
    const description: unknown = Reflect.get(tool, "description");
    if (typeof schema !== "object" || schema === null) return fingerprintTool(describeTool(tool));
    const isJson = !langchain.isInteropZodSchema(schema) && !("~standard" in schema);
    const text = isJson ? JSON.stringify(schema) : undefined;
    const known = prints.get(schema);
    if (known && known.description === description && known.text === text) return known.print;
    const print = fingerprintTool(describeTool(tool));
    prints.set(schema, { description, text, print });
    return print;
  } catch {
    return "cannot be described";
  }
}
