import {
  DECLARE_PLAN,
  fingerprintTool,
  IntentlockError,
  isJsonObject,
  isToolName,
  type JsonObject,
  type Plan,
  type ToolDescription,
} from "../core/index.ts";

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

/** The arguments of a step that the plan does not constrain, though the tool may change something. */
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
    const args = Object.keys(propertiesOf(tool)).filter((name) => !Object.hasOwn(step.args ?? {}, name));
    return args.length === 0 ? [] : [{ step: index, tool: step.tool, args }];
  });
}

/** The schemas of a tool's arguments by their names, as far as the schema of the whole lists them. */
export function propertiesOf({ inputSchema }: SessionTool): JsonObject {
  const properties = isJsonObject(inputSchema) ? inputSchema.properties : undefined;
  return isJsonObject(properties) ? properties : {};
}
