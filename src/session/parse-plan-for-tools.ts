import { type Issue, isJsonObject, type Plan, PlanError, parsePlan } from "../core/index.ts";
import { propertiesOf, type SessionTool } from "./session-tool.ts";

/**
 * A plan for these tools. Beyond what `parsePlan` refuses, an argument that the schema of its tool does not have is a
 * mistake: no call could satisfy the step.
 *
 * @throws PlanError
 */
export function parsePlanForTools(value: unknown, tools: readonly SessionTool[]): Plan {
  const plan = parsePlan(value, { tools: tools.map(({ name }) => name) });
  const issues = plan.steps.flatMap(({ tool: name, args = {} }, index): Issue[] => {
    const known = closedArguments(tools.find((tool) => tool.name === name));
    const unknown = known ? Object.keys(args).filter((arg) => !known.includes(arg)) : [];
    return unknown.map((arg) => ({
      path: `steps[${index}].args.${arg}`,
      message: `${name} has no such argument; there are: ${known?.join(", ") || "none"}`,
    }));
  });
  if (issues.length > 0) throw new PlanError(issues);
  return plan;
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
