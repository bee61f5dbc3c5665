import { type core, toJSONSchema } from "zod";
import { IntentlockError } from "../core/index.ts";
import { describeThrown } from "../session/describe-thrown.ts";
import { fingerprintTools } from "../session/session-tool.ts";
import { unwritableSchema } from "../session/setup-errors.ts";

/** What a tool is told of its call, beside the arguments. */
export interface ToolContext {
  readonly callId: string;
  /** Of the run: whoever waits for the tool has given up. */
  readonly signal?: AbortSignal | undefined;
}

/** A tool that runs: what the model reads comes out of it. */
export type Implementation = (args: unknown, context: ToolContext) => Promise<unknown>;

/** What the model is told of a tool, and what its arguments have to be. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly schema: core.$ZodType;
}

/** A tool that {@link defineTool} has made. */
export interface GuardTool extends ToolDeclaration {
  readonly impl: Implementation;
}

export interface ToolDefinition<S extends core.$ZodType> {
  /** 1 to 64 letters, digits, `_` or `-`. `declare_plan` is reserved. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** Of the arguments: an object, of values that JSON has. What the schema makes of them is what `impl` gets. */
  readonly schema: S;
  /** What it returns the model reads, a text as it is and all else as JSON; what it throws, as `Tool failed: <message>`. */
  readonly impl: (args: core.output<S>, context: ToolContext) => unknown;
}

/**
 * Defines a tool for {@link createGuard}: arguments that its schema rejects never get to `impl`.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for a bad or reserved name, and for a schema that is none or that JSON Schema
 * cannot express
 *
 * @example
 * import { defineTool } from "intentlock/guard";
 * import { z } from "zod";
 *
 * const readPage = defineTool({
 *   name: "read_page",
 *   description: "Reads a web page",
 *   schema: z.object({ url: z.url() }),
 *   impl: async ({ url }) => (await fetch(url)).text(),
 * });
 */
export function defineTool<const S extends core.$ZodType>(definition: ToolDefinition<S>): GuardTool {
  const { name, description, schema, impl } = definition;
  fingerprintTools([{ name, inputSchema: {} }]);
  const what = `The tool ${name}`;
  if (typeof description !== "string") throw invalid(`${what} needs a description: the model is told of it`);
  if (typeof impl !== "function") throw invalid(`${what} needs an impl: the function that does it`);
  assertSchema(name, schema);
  return Object.freeze({ name, description, schema, impl: implement(impl as ToolDefinition<core.$ZodType>["impl"]) });
}

/** The tools of a guard: `...toolset([listIssues, postComment])`. */
export interface Toolset {
  readonly tools: readonly ToolDeclaration[];
  readonly impls: Readonly<Record<string, Implementation>>;
}

/** Puts tools together. @throws IntentlockError `ERR_INVALID_OPTIONS` for two tools of one name, and for what is no tool */
export function toolset(tools: readonly GuardTool[]): Toolset {
  if (!Array.isArray(tools)) throw invalid("toolset: expected a list of tools, like [listIssues, postComment]");
  tools.forEach((tool: GuardTool | undefined, index) => {
    if (typeof tool?.impl === "function" && tool.schema) return;
    throw invalid(`toolset: item ${index} is no tool; make it with defineTool({ name, description, schema, impl })`);
  });
  fingerprintTools(tools.map(({ name }) => ({ name, inputSchema: {} })));
  return Object.freeze({
    tools: Object.freeze(tools.map(({ name, description, schema }) => Object.freeze({ name, description, schema }))),
    // Made by definition, not assignment: a tool may be called __proto__.
    impls: Object.freeze(Object.fromEntries(tools.map(({ name, impl }) => [name, impl]))),
  });
}

function assertSchema(name: string, schema: core.$ZodType | undefined): void {
  if (typeof schema !== "object" || schema === null || !("_zod" in schema)) {
    throw invalid(`The tool ${name} needs a schema of zod 4, like z.object({ repo: z.string() })`);
  }
  let type: unknown;
  try {
    ({ type } = toJSONSchema(schema, { io: "input" }));
  } catch (cause) {
    throw unwritableSchema(name, cause);
  }
  if (type === "object") return;
  throw invalid(`The schema of the tool ${name} has to be an object, like z.object({ repo: z.string() })`);
}

function implement(impl: ToolDefinition<core.$ZodType>["impl"]): Implementation {
  return async (args, context) => {
    try {
      return toResult(await impl(args, context));
    } catch (error) {
      throw new ToolFailure(error);
    }
  };
}

/** What a tool has thrown. The AI SDK gives the model the text of an error, a session its message. */
class ToolFailure extends Error {
  constructor(cause: unknown) {
    super(describeThrown(cause), { cause });
  }

  override toString(): string {
    return `Tool failed: ${this.message}`;
  }
}

/** As the model gets it, so that nothing is left to go wrong after the tool has run. */
function toResult(value: unknown): unknown {
  if (typeof value === "string") return value;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new Error(`it has run, and its result cannot be written as JSON (${describeThrown(cause)})`, { cause });
  }
  return text === undefined ? null : (JSON.parse(text) as unknown);
}

function invalid(message: string): IntentlockError {
  return new IntentlockError("ERR_INVALID_OPTIONS", message);
}
