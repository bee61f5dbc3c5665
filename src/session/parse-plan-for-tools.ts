import { type Issue, isJsonObject, type Plan, PlanError, type PlanStep, parsePlan } from "../core/index.ts";
import { parsePointer } from "../core/json-pointer.ts";
import { printPath } from "../core/path.ts";
import { propertiesOf, type SessionTool } from "./session-tool.ts";

/**
 * A plan for these tools. Beyond what `parsePlan` refuses, an argument that the schema of its tool does not have is a
 * mistake, whether `args` names it or a pointer of `at` begins with it: no call could satisfy the step.
 *
 * @throws PlanError
 */
export function parsePlanForTools(value: unknown, tools: readonly SessionTool[]): Plan {
  const plan = parsePlan(value, { tools: tools.map(({ name }) => name) });
  const issues = plan.steps.flatMap((step, index): Issue[] => {
    const known = closedArguments(tools.find((tool) => tool.name === step.tool));
    const unknown = known ? listNamed(step).filter(({ name }) => !known.includes(name)) : [];
    return unknown.map(({ path }) => ({
      path: printPath(["steps", index, ...path]),
      message: `${step.tool} has no such argument; there are: ${known?.join(", ") || "none"}`,
    }));
  });
  if (issues.length > 0) throw new PlanError(issues);
  return plan;
}

/** The arguments that a step names, and where it does. */
function listNamed({ args = {}, at = {} }: PlanStep): { readonly name: string; readonly path: string[] }[] {
  return [
    ...Object.keys(args).map((name) => ({ name, path: ["args", name] })),
    ...Object.keys(at).map((pointer) => ({ name: parsePointer(pointer)?.[0] ?? "", path: ["at", pointer] })),
  ];
}

/** The names of all arguments that a tool takes; undefined if its schema does not rule others out. */
function closedArguments(tool: SessionTool | undefined): string[] | undefined {
  const schema = tool?.inputSchema;
  if (!tool || !isJsonObject(schema) || schema.additionalProperties !== false) return undefined;
  // Properties may also come from these.
  if (["$ref", "allOf", "anyOf", "oneOf", "patternProperties"].some((keyword) => Object.hasOwn(schema, keyword)))
    return undefined;
  return Object.keys(propertiesOf(tool));
}
