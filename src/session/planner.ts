import { DECLARE_PLAN, type Issue, type Json, type Plan, PlanError } from "../core/index.ts";
import type { Task } from "../gates/gate.ts";
import { parsePlanForTools } from "./parse-plan-for-tools.ts";
import { PLAN_GUIDE } from "./plan-guide.ts";
import { planJsonSchema } from "./plan-json-schema.ts";
import type { SessionTool } from "./session-tool.ts";

/** What a model is asked for a plan with. */
export interface PlanRequest {
  readonly system: string;
  readonly prompt: string;
  /** The one tool that the model may, and has to, call. */
  readonly tool: { readonly name: typeof DECLARE_PLAN; readonly description: string; readonly inputSchema: Json };
  readonly signal?: AbortSignal;
}

/**
 * Asks a model for a plan: one call of a model that is forced to call `declare_plan`. Gives the arguments of that call, or
 * undefined if the model made none.
 */
export type Planner = (request: PlanRequest) => Promise<unknown>;

const ATTEMPTS = 3;

/**
 * Has a model declare a plan. The prompt holds the instruction, the user's earlier messages and the tools, and nothing
 * that anybody else has written; a plan that is not valid goes back to the model twice, with the list of its problems.
 * Without tools there is one plan, and no model is asked for it.
 *
 * @throws PlanError the problems of the third plan
 */
export async function makePlan(
  planner: Planner,
  {
    task,
    tools,
    signal,
  }: { readonly task: Task; readonly tools: readonly SessionTool[]; readonly signal: AbortSignal | undefined },
): Promise<Plan> {
  // There is nothing to choose from, and providers refuse a schema that says so.
  if (tools.length === 0) return { goal: "Answer without tools", steps: [] };
  const names = tools.map(({ name }) => name);
  const prompt = writePrompt(task, tools);
  const tool = {
    name: DECLARE_PLAN,
    description: "Declare every tool call that the task may need.",
    inputSchema: planJsonSchema(names),
  } as const;
  let failed: PlanError | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    signal?.throwIfAborted();
    const declared = await planner({
      system: SYSTEM,
      prompt: failed ? `${prompt}\n\n${writeProblems(failed.issues)}` : prompt,
      tool,
      ...(signal && { signal }),
    });
    try {
      if (declared === undefined)
        throw new PlanError([{ path: "", message: `the model did not call ${DECLARE_PLAN}` }]);
      return parsePlanForTools(declared, tools);
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      failed = error;
    }
  }
  throw failed as PlanError;
}

const SYSTEM = `You plan the work of an agent before it starts. Declare every tool call that the user's task may need, by calling ${DECLARE_PLAN} once. Afterwards the agent can make the calls that the plan declares and no others.

${PLAN_GUIDE}`;

function writePrompt({ instruction, earlier = [] }: Task, tools: readonly SessionTool[]): string {
  const messages =
    earlier.length === 0 ? "" : `Earlier messages of the same user:\n${JSON.stringify(earlier, null, 1)}\n\n`;
  const list = tools.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, arguments: inputSchema }),
  );
  return `${messages}The user's task:\n${JSON.stringify(instruction)}\n\nThe tools, one a line:\n${list.join("\n")}`;
}

function writeProblems(issues: readonly Issue[]): string {
  const list = issues.slice(0, 20).map(({ path, message }) => `- ${path || "the plan"}: ${message}`);
  return `The plan that you declared before was not valid. Declare another without these problems:\n${list.join("\n")}`;
}
