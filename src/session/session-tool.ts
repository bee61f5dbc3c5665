import {
  DECLARE_PLAN,
  fingerprintTool,
  IntentlockError,
  isJsonObject,
  isToolName,
  type JsonObject,
  type Plan,
  type PlanStep,
  type ToolDescription,
} from "../core/index.ts";
import { parsePointer } from "../core/json-pointer.ts";

/** A tool as a session knows it. */
export interface SessionTool extends ToolDescription {
  /** The tool changes nothing. Not checked: it only decides what `plan_signed` warns about. */
  readonly readOnly?: boolean;
  /**
   * Validates arguments, and gives what the tool is to receive. What it throws blocks the call as `invalid_args`, with its
   * message for the model. Not asked for calls that come with `isParsed`.
   */
  readonly parse?: (args: unknown) => unknown | Promise<unknown>;
}

/** The fingerprints of tools by name. @throws IntentlockError `ERR_INVALID_OPTIONS` for a bad, reserved or repeated name */
export function fingerprintTools(tools: readonly SessionTool[]): Readonly<Record<string, string>> {
  const prints = new Map<string, string>();
  for (const tool of tools) {
    if (!isToolName(tool.name)) {
      throw new IntentlockError(
        "ERR_INVALID_OPTIONS",
        `The tool ${JSON.stringify(tool.name)} cannot be locked: a name is 1 to 64 letters, digits, _ or -. Give it another in the set of tools.`,
      );
    }
    if (tool.name === DECLARE_PLAN) {
      throw new IntentlockError(
        "ERR_INVALID_OPTIONS",
        `The tool name ${DECLARE_PLAN} is reserved: give the tool another`,
      );
    }
    if (prints.has(tool.name)) {
      throw new IntentlockError("ERR_INVALID_OPTIONS", `Two tools are called ${tool.name}`);
    }
    prints.set(tool.name, fingerprintTool(tool));
  }
  return Object.freeze(Object.fromEntries(prints));
}

/** The arguments of a step that the plan leaves open, though the tool may change something. */
export interface OpenArguments {
  readonly step: number;
  readonly tool: string;
  readonly args: readonly string[];
}

/** What the plan leaves open: an attacker who controls what the model reads may choose these values. */
export function listOpenArguments(plan: Plan, tools: readonly SessionTool[]): OpenArguments[] {
  return plan.steps.flatMap((step, index) => {
    const tool = tools.find(({ name }) => name === step.tool);
    if (!tool || tool.readOnly) return [];
    const known = Object.keys(propertiesOf(tool));
    const listed = Object.keys(step.args ?? {}).filter((name) => !known.includes(name));
    const args = [...known, ...listed].filter((name) => isOpen(name, step));
    return args.length === 0 ? [] : [{ step: index, tool: step.tool, args }];
  });
}

/** Whether the step takes any value of an argument: it is not listed and may be there, or its condition says no more than that. */
function isOpen(name: string, { args = {}, at = {}, otherArgs }: PlanStep): boolean {
  const condition = Object.hasOwn(args, name) ? args[name] : undefined;
  if (condition && Object.keys(condition).some((operator) => operator !== "optional")) return false;
  if (Object.keys(at).some((pointer) => parsePointer(pointer)?.[0] === name)) return false;
  return condition !== undefined || otherArgs !== "block";
}

/** The schemas of a tool's arguments by their names, as far as the schema of the whole lists them. */
export function propertiesOf({ inputSchema }: SessionTool): JsonObject {
  const properties = isJsonObject(inputSchema) ? inputSchema.properties : undefined;
  return isJsonObject(properties) ? properties : {};
}
