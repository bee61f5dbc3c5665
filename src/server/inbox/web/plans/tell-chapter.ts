import type { StoryEntry } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";
import type { DecisionRecord } from "../../../../core/audit.ts";
import type { Chapter } from "./group-entries.ts";

/** One thing in a chapter: an entry, what people were asked, or what became of that where no entry says it. */
export type Line =
  | { readonly kind: "entry"; readonly entry: StoryEntry; readonly hold?: InboxItem | undefined }
  | { readonly kind: "asked"; readonly hold: InboxItem }
  | { readonly kind: "fate"; readonly hold: InboxItem };

/** A chapter in order. The entries do not have all of it: a rejection is known of the hold alone. */
export function tellChapter({ entries, holds }: Chapter): readonly Line[] {
  const left = new Set(holds);
  const takeHold = (holdId: string): InboxItem | undefined => {
    const hold = holds.find((one) => one.holdId === holdId);
    if (hold) left.delete(hold);
    return hold;
  };
  const isApproved = (hold: InboxItem): boolean =>
    entries.some(({ event }) => event.type === "approval" && event.holdId === hold.holdId);
  const isAsked = (hold: InboxItem): boolean =>
    entries.some(({ event }) => event.type === "hold" && event.holdId === hold.holdId);
  const tellHold = (hold: InboxItem): readonly Line[] =>
    hold.status === "pending" || isApproved(hold) ? [] : [{ kind: "fate", hold }];
  const lines = entries.flatMap((entry): readonly Line[] => {
    const { event } = entry;
    if (event.type === "hold") {
      const hold = takeHold(event.holdId);
      return [{ kind: "entry", entry, hold }, ...(hold ? tellHold(hold) : [])];
    }
    if (event.type === "approval") {
      return [{ kind: "entry", entry, hold: holds.find(({ holdId }) => holdId === event.holdId) }];
    }
    const [hold] = left;
    if (event.type !== "decision" || event.verdict !== "hold" || !hold || isAsked(hold))
      return [{ kind: "entry", entry }];
    left.delete(hold);
    return [{ kind: "entry", entry }, { kind: "asked", hold }, ...tellHold(hold)];
  });
  return [...lines, ...[...left].flatMap((hold): readonly Line[] => [{ kind: "asked", hold }, ...tellHold(hold)])];
}

/** What the call came to: the last decision as it was answered, and the hold if that still counts. */
export function findEnd({ entries, holds }: Chapter): {
  readonly decision: DecisionRecord | undefined;
  readonly verdict: DecisionRecord["verdict"] | undefined;
  readonly hold: InboxItem | undefined;
} {
  const decision = entries.findLast(({ event }) => event.type === "decision")?.event as DecisionRecord | undefined;
  const verdict = decision && answerOf(decision).verdict;
  return { decision, verdict, hold: verdict === "hold" || !decision ? holds.at(-1) : undefined };
}

/** How a call was answered: blocked also where the decision itself said otherwise. */
export function answerOf({ verdict, reason, answer }: DecisionRecord): Pick<DecisionRecord, "verdict" | "reason"> {
  if (answer !== undefined) return { verdict: "block", reason: answer };
  return { verdict, ...(reason !== undefined && { reason }) };
}
