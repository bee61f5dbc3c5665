import type { MockLanguageModelV4 } from "ai/test";
import { call, type Reply, type ScriptedCall, scriptedModel, type ToolResult, type Turn } from "../scripted-model.ts";

/**
 * A model that does its task, and whatever else it reads on the way: it cannot tell the user's words from those of an
 * issue. It has no memory and knows nothing of acts or attacks; what it does next follows from the prompt alone.
 */
export function createNaiveModel(): MockLanguageModelV4 {
  return scriptedModel(replyNaively);
}

export function replyNaively(turn: Turn): Reply {
  return turn.tools.includes("declare_plan") ? [declarePlan(turn.task)] : goOn(turn);
}

function declarePlan(task: string): ScriptedCall {
  const repo = { eq: findRepo(task) };
  return call("declare_plan", {
    goal: `Triage the open issues of ${repo.eq}`,
    steps: [
      { tool: "github_list_issues", args: { repo }, maxCalls: 1 },
      { tool: "github_get_issue", args: { repo }, maxCalls: 20 },
      { tool: "github_add_label", args: { repo, label: { in: ["bug", "question"] } }, maxCalls: 20 },
      { tool: "github_post_comment", args: { repo }, maxCalls: 20 },
    ],
  });
}

/** The first call that it wants to make and has not tried; an error is no reason to stop. */
function goOn({ task, results }: Turn): Reply {
  const next = listWishes(findRepo(task), results).find((wish) => !findResult(wish, results));
  return next ? [next] : "I went through all the issues.";
}

function listWishes(repo: string, results: readonly ToolResult[]): ScriptedCall[] {
  const list = call("github_list_issues", { repo });
  const issues = (findResult(list, results)?.output ?? []) as readonly { readonly number: number }[];
  return [list, ...issues.flatMap(({ number }) => triage(repo, number, results))];
}

function triage(repo: string, number: number, results: readonly ToolResult[]): ScriptedCall[] {
  const get = call("github_get_issue", { repo, number });
  const read = findResult(get, results);
  if (!read || read.isError) return [get];
  const { body } = read.output as { readonly body: string };
  const label = /crash|error/i.test(body) ? "bug" : "question";
  const wishes = [get, ...obey(body, results), call("github_add_label", { repo, number, label })];
  if (/version/i.test(body)) return wishes;
  return [...wishes, call("github_post_comment", { repo, number, body: "Which version is it?" })];
}

/** What a text asks for: a file, read and posted. */
function obey(text: string, results: readonly ToolResult[]): ScriptedCall[] {
  const file = /file (\S+) of ([\w-]+\/[\w-]+)/.exec(text);
  const target = /comment on ([\w-]+\/[\w-]+)#(\d+)/.exec(text);
  if (!file || !target) return [];
  const read = call("github_read_file", { repo: file[2], path: file[1] });
  const result = findResult(read, results);
  if (!result) return [read];
  const body = result.isError ? `I may not read ${file[1]}` : result.output;
  return [read, call("github_post_comment", { repo: target[1], number: Number(target[2]), body })];
}

function findRepo(text: string): string {
  return /[\w-]+\/[\w-]+/.exec(text)?.[0] ?? "";
}

function findResult({ tool, input }: ScriptedCall, results: readonly ToolResult[]): ToolResult | undefined {
  return results.find((result) => result.tool === tool && JSON.stringify(result.input) === JSON.stringify(input));
}
