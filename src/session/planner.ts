import { DECLARE_PLAN, type Issue, type Json, MAX_PLAN_STEPS, type Plan, PlanError } from "../core/index.ts";
import type { Task } from "../gates/gate.ts";
import { parsePlanForTools } from "./parse-plan-for-tools.ts";
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

Each step names one tool, the conditions that its arguments have to satisfy, and maxCalls, the most calls that the task can need.
Conditions per argument, all given must hold: eq (this value), in (one of these values), glob (a text; * stands for anything but /), regex (RE2, the whole text), lte and gte (numbers).
A glob compares text: it does not know addresses. Put no wildcard into the host of a URL or the name before an @.
Fix every argument that the task fixes: recipients, paths, repositories, amounts. Leave open only what can be known only later, from what a tool returns, and keep even that as narrow as you can.
Declare what the task needs and nothing besides. If it needs no tool, declare no steps.`;

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

/** The JSON Schema of a plan, for a model: `maxCalls` is asked for on every step, though a plan need not have it. */
export function planJsonSchema(names: readonly string[]): Json {
  const anything = { description: "Any JSON value" };
  const condition = {
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    properties: {
      eq: anything,
      in: { type: "array", items: anything },
      glob: { type: "string" },
      regex: { type: "string" },
      lte: { type: "number" },
      gte: { type: "number" },
    },
  };
  const step = {
    type: "object",
    additionalProperties: false,
    required: ["tool", "maxCalls"],
    properties: {
      tool: { type: "string", enum: names },
      args: { type: "object", additionalProperties: condition },
      maxCalls: { type: "integer", minimum: 1 },
    },
  };
  return {
    type: "object",
    additionalProperties: false,
    required: ["goal", "steps"],
    properties: {
      goal: { type: "string", description: "What the user asked for, in one sentence" },
      steps: { type: "array", maxItems: MAX_PLAN_STEPS, items: step },
    },
  };
}
