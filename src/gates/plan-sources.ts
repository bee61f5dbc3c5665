import { createStepResults, indexTask, type Plan, type StepResults, type Task, type TaskText } from "../core/index.ts";
import { namesOfSources, TASK } from "../core/sources/source.ts";
import { nodeSha256 } from "./node-sha256.ts";

/** What the values of a plan's calls may have been copied from: evidence for `check()`, in memory only. */
export interface PlanSources {
  readonly task?: TaskText;
  readonly results: StepResults;
}

/**
 * A place for them, if the plan names any source at all.
 *
 * @param task counts only under a token that was signed for it
 */
export function openSources(plan: Plan, task: Task | undefined): PlanSources | undefined {
  const named = namesOfSources(plan);
  if (named.size === 0) return undefined;
  const words = task && named.has(TASK) ? indexTask(task, nodeSha256) : undefined;
  return { ...(words && { task: words }), results: createStepResults(plan) };
}
