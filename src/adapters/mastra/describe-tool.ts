import { type BlockReason, fingerprintTool, isJsonObject, type Json } from "../../core/index.ts";
import { freezeArgs, freezeJson, jsonEqual } from "../../core/json.ts";
import type { SessionTool } from "../../session/index.ts";
import { unwritableSchema } from "../../session/setup-errors.ts";

/** A tool of any kind that Mastra takes, by what is used of it here. */
export type AnyTool = object;

/** What Mastra, and the SDKs whose tools it takes, know as the schema of arguments. */
interface Schema {
  readonly jsonSchema?: unknown;
  readonly validate?: (value: unknown) => unknown;
  readonly "~standard"?: {
    readonly validate: (value: unknown) => unknown;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown };
  };
}

/**
 * Tools as `startSession` takes them, for a session whose tools `lockTools` locks.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for a tool whose schema cannot be told to a model
 */
export async function describeTools(tools: Readonly<Record<string, AnyTool>>): Promise<SessionTool[]> {
  return await Promise.all(Object.entries(tools).map(([key, tool]) => describeTool(toToolName(key), tool)));
}

/** The name that Mastra gives a tool for its model: MCP servers have names that models do not take. */
export function toToolName(key: string): string {
  const name = key.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
  return (/^[a-zA-Z_]/.test(name) ? name : `_${name}`).slice(0, 63);
}

/** What the model is told of a tool. */
export async function describeTool(name: string, tool: AnyTool): Promise<SessionTool> {
  const description: unknown = Reflect.get(tool, "description");
  const inputSchema = await readSchema(name, tool);
  return { name, ...(typeof description === "string" && { description }), inputSchema };
}

/** Schemas of Zod as JSON. They do not change, and are the slowest to write; those that are JSON themselves may. */
const zodSchemas = new WeakMap<object, Json>();

async function readSchema(name: string, tool: AnyTool): Promise<Json> {
  try {
    const schema = await schemaOf(tool);
    if (schema === undefined) return { type: "object", properties: {} };
    const known = zodSchemas.get(schema);
    if (known) return known;
    const given: unknown =
      schema.jsonSchema ?? schema["~standard"]?.jsonSchema?.input({ target: "draft-07" }) ?? schema;
    // As it travels to the provider: without what JSON drops.
    const inputSchema = JSON.parse(JSON.stringify(await given)) as Json;
    if (!isJsonObject(inputSchema)) throw new TypeError("it is none");
    // Mastra writes its own over it, in place, when the model is asked.
    const { $schema, ...told } = inputSchema;
    if ("_zod" in schema) zodSchemas.set(schema, freezeJson(told));
    return told;
  } catch (cause) {
    throw unwritableSchema(name, cause);
  }
}

/** The last fingerprint of each tool, and of what: hashing takes longer than the rest of a check. */
const fingerprints = new WeakMap<AnyTool, { readonly text: string; readonly fingerprint: string }>();

/** The fingerprint of what the model is told of a tool now. A tool that cannot be described any more has none that was signed. */
export async function fingerprintNow(name: string, tool: AnyTool): Promise<string> {
  try {
    const description = await describeTool(name, tool);
    const text = JSON.stringify(description);
    const last = fingerprints.get(tool);
    if (last?.text === text) return last.fingerprint;
    const fingerprint = fingerprintTool(description);
    fingerprints.set(tool, { text, fingerprint });
    return fingerprint;
  } catch {
    return "cannot be described";
  }
}

/** Arguments as the tool gets them, or why it does not get them. */
export type ParsedArgs =
  | { readonly args: unknown; readonly refusal?: undefined }
  | { readonly refusal: { readonly reason: BlockReason; readonly detail: string }; readonly args?: undefined };

/**
 * Arguments, parsed with the tool's own schema, frozen. Mastra parses what it is given up to twice more, depending on the
 * model: only where that changes nothing is what was checked what runs.
 */
export async function parseArgs(tool: AnyTool, given: unknown): Promise<ParsedArgs> {
  const raw = tryFreeze(given);
  const schema = await schemaOf(tool);
  const validate = schema?.["~standard"]?.validate ?? schema?.validate;
  if (!raw || !schema || !validate) return { args: raw ?? given };
  const parse = async (value: unknown): Promise<ParsedArgs> =>
    toParsed(await Reflect.apply(validate, schema["~standard"] ?? schema, [value]));
  const first = await parse(raw);
  if (first.refusal) return first;
  const args = tryFreeze(first.args);
  if (!args || jsonEqual(args, raw)) return { args: args ?? first.args };
  const second = await parse(args);
  const again = second.refusal ? undefined : tryFreeze(second.args);
  if (again && jsonEqual(again, args)) return { args };
  const detail = "the tool's schema makes something else of them each time: convert inside the tool";
  return { refusal: { reason: "invalid_args", detail } };
}

/** Undefined for what is not strict JSON, and is blocked as that. */
function tryFreeze(args: unknown): Json | undefined {
  try {
    return freezeArgs(args);
  } catch {
    return undefined;
  }
}

/** The results of Standard Schema, and of the AI SDK's schemas. */
function toParsed(result: unknown): ParsedArgs {
  const { value, success, issues, error } = result as {
    readonly value?: unknown;
    readonly success?: boolean;
    readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
    readonly error?: { readonly message: string };
  };
  if (!issues && success !== false) return { args: value };
  const list = issues
    ?.slice(0, 5)
    .map(({ message, path }) => (path?.length ? `${path.map(nameStep).join(".")}: ${message}` : message));
  return {
    refusal: { reason: "invalid_args", detail: list?.join("; ") ?? error?.message ?? "the schema rejects them" },
  };
}

function nameStep(step: unknown): string {
  return String(typeof step === "object" && step !== null ? Reflect.get(step, "key") : step);
}

async function schemaOf(tool: AnyTool): Promise<Schema | undefined> {
  const given: unknown = Reflect.get(tool, "inputSchema") ?? Reflect.get(tool, "parameters");
  const isLazy = typeof given === "function" && !("~standard" in given);
  return (isLazy ? await given() : given) as Schema | undefined;
}
