import { type Command, Option } from "commander";
import { PlanError } from "../../core/index.ts";
import { parsePlanForTools } from "../../session/parse-plan-for-tools.ts";
import { type Answer, addCommand, addGroup, type CommandHost } from "../command.ts";
import { CliError } from "../exit-codes.ts";
import { readPlanFile } from "../mcp/read-plan-file.ts";
import { printPlan } from "../output/print-plan.ts";
import { printable } from "../output/printable.ts";
import { explainPlan } from "../plan/explain-plan.ts";
import { readToolList } from "../plan/tool-list.ts";
import { requirePolicyFile } from "../policy/policy-file.ts";

interface ExplainOptions {
  readonly tools?: string;
  readonly policy?: string;
}

export function addPlanCommands(program: Command, host: CommandHost): void {
  const plan = addGroup(program, "plan", "read plans");
  addCommand<ExplainOptions>(plan, host, {
    usage: "explain <file>",
    summary: "say in plain words what a plan allows",
    details:
      "Needs no server. Says step by step which calls there may be, and warns of every argument that is left open: whoever\n" +
      "writes what the agent reads may choose it. With the tools, it knows their arguments and which of them only read;\n" +
      "with a policy, it says which rules hold or allow the calls of each step.",
    examples: ["plan explain plan.json", "plan explain plan.json --tools tools.json --policy policy.yaml"],
    options: [
      new Option("--tools <file>", "JSON: the tools, each { name, inputSchema, annotations }, as MCP lists them"),
      new Option("--policy <file>", "the policy that the calls have to pass as well"),
    ],
    run: async ({ args: [file = ""], options, io, paint }) => {
      const tools = options.tools === undefined ? undefined : await readToolList(options.tools, io);
      const policy = options.policy === undefined ? undefined : (await requirePolicyFile(options.policy, io)).policy;
      try {
        const given = await readPlanFile(file, io);
        const plan = tools ? parsePlanForTools(given, tools) : given;
        const steps = explainPlan(plan, { tools, policy });
        return { value: { valid: true, goal: plan.goal, steps, issues: [] }, text: printPlan(plan.goal, steps, paint) };
      } catch (error) {
        return refuse(file, error);
      }
    },
  });
}

/** `file: path: message`, one line each. @throws what is not about the plan */
function refuse(file: string, error: unknown): Answer {
  const issues = error instanceof PlanError || error instanceof CliError ? error.issues : undefined;
  if (!issues) throw error;
  const lines = issues.map(({ path, message }) => printable(`${file}: ${path === "" ? "" : `${path}: `}${message}`));
  return { value: { valid: false, issues }, text: lines.map((line) => `${line}\n`).join(""), negative: true };
}
