import type { StoryEntry } from "../../../../core/api/history.ts";

/**
 * How many calls each step has used up by these entries, which begin with the first: a call that was allowed and did not
 * end before it started. Steps and decisions that there are not count for nothing.
 */
export function countCalls(entries: readonly StoryEntry[], steps: number): readonly number[] {
  const used = new Array<number>(steps).fill(0);
  const open = new Map<number, number>();
  for (const { seq, event } of entries) {
    if (event.type === "decision") {
      const { verdict, answer, step } = event;
      if (verdict !== "allow" || answer !== undefined || step === undefined || step >= steps) continue;
      used[step] = (used[step] ?? 0) + 1;
      open.set(seq, step);
    } else if (event.type === "outcome") {
      const step = open.get(event.decisionSeq);
      open.delete(event.decisionSeq);
      if (step !== undefined && event.status === "aborted") used[step] = (used[step] ?? 0) - 1;
    }
  }
  return used;
}
