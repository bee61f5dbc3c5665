import { generateText, isStepCount, type LanguageModel, type ToolSet } from "ai";
import type { Decision } from "intentlock";
import type { Row } from "./table.ts";

/** What an agent is made of: `locked.settings` of `withIntentlock` is one too. */
export interface AgentSettings {
  readonly model: LanguageModel;
  readonly tools: ToolSet;
}

/**
 * Runs the agent, in the loop of the AI SDK, and lists what it did.
 *
 * @param options.decisions what Intentlock decided, by call id; without it, calls have merely run or failed
 */
export async function runAgent(
  settings: AgentSettings,
  options: { readonly task: string; readonly repo: string; readonly decisions?: ReadonlyMap<string, Decision> },
): Promise<Row[]> {
  const { steps } = await generateText({ ...settings, prompt: options.task, stopWhen: isStepCount(30) });
  return steps.flatMap(({ toolCalls, toolResults }) =>
    toolCalls.map(({ toolCallId, toolName, input }): Row => {
      const row = { tool: toolName, input };
      const decision = options.decisions?.get(toolCallId);
      if (decision?.verdict === "allow") return { ...row, verdict: "ALLOW", colour: "green" };
      if (decision?.verdict === "block") {
        // The line that the model reads as well, without its beginning, which the verdict says already.
        const note = /: (.*)/.exec(decision.message)?.[1] ?? "";
        return { ...row, verdict: `BLOCK ${decision.reason}`, colour: "red", note };
      }
      const ran = toolResults.some((result) => result.toolCallId === toolCallId);
      const isOurs = (input as { readonly repo?: unknown }).repo === options.repo;
      return {
        ...row,
        verdict: `${ran ? "ran" : "failed"}${isOurs ? "" : " (attack)"}`,
        colour: isOurs ? "reset" : "yellow",
      };
    }),
  );
}
