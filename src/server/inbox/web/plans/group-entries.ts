import type { StoryEntry, StoryEvent } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";

/** Entries that belong together: a call's decision, its hold, the approval, the second decision and the outcome. */
export interface Chapter {
  readonly entries: readonly StoryEntry[];
  readonly holds: readonly InboxItem[];
}

export interface GroupedEntries {
  /** In the order of their first entries; the hold of the whole plan is before all of them. */
  readonly chapters: readonly Chapter[];
  /** Holds whose decisions are not among the entries. */
  readonly looseHolds: readonly InboxItem[];
}

interface OpenChapter {
  readonly entries: StoryEntry[];
  readonly holds: InboxItem[];
}

/**
 * Puts together what belongs together. Each entry is in exactly one chapter, whatever it says of others: a client writes
 * entries too, and nothing that it wrote may be missing.
 */
export function groupEntries(entries: readonly StoryEntry[], holds: readonly InboxItem[]): GroupedEntries {
  const chapters: OpenChapter[] = [];
  const bySeq = new Map<number, OpenChapter>();
  const byHold = new Map<string, OpenChapter>();
  for (const entry of entries) {
    const { event, seq } = entry;
    let chapter = findChapter(event, { chapters, bySeq, byHold });
    if (!chapter) {
      chapter = { entries: [], holds: [] };
      chapters.push(chapter);
    }
    chapter.entries.push(entry);
    if (event.type === "decision") bySeq.set(seq, chapter);
    const holdId = holdIdOf(event);
    if (holdId !== undefined && !byHold.has(holdId)) byHold.set(holdId, chapter);
  }
  const ofPlan = holds.filter(({ kind }) => kind === "plan");
  const looseHolds = holds.filter((hold) => {
    if (hold.kind === "plan") return false;
    const chapter =
      byHold.get(hold.holdId) ?? chapters.find((one) => one.holds.length === 0 && isHeld(one, hold.digest));
    chapter?.holds.push(hold);
    return chapter === undefined;
  });
  return { chapters: [...ofPlan.map((hold) => ({ entries: [], holds: [hold] })), ...chapters], looseHolds };
}

interface Chapters {
  readonly chapters: readonly OpenChapter[];
  readonly bySeq: ReadonlyMap<number, OpenChapter>;
  readonly byHold: ReadonlyMap<string, OpenChapter>;
}

function findChapter(event: StoryEvent, { chapters, bySeq, byHold }: Chapters): OpenChapter | undefined {
  switch (event.type) {
    case "hold":
    case "outcome":
    case "approval":
      return bySeq.get(event.decisionSeq);
    case "decision": {
      const approval = event.evidence?.approval;
      if (!approval || event.digest === undefined) return undefined;
      const held = byHold.get(approval.holdId) ?? chapters.findLast((one) => isHeld(one, approval.digest));
      // Only the very action that was held goes on from there.
      return held && isHeld(held, event.digest) ? held : undefined;
    }
    case "plan_signed":
    case "refresh":
    case "closed":
      return undefined;
    default:
      return event satisfies never;
  }
}

function holdIdOf(event: StoryEvent): string | undefined {
  if (event.type === "hold" || event.type === "approval") return event.holdId;
  return event.type === "decision" ? event.evidence?.approval?.holdId : undefined;
}

function isHeld({ entries }: Chapter, digest: string): boolean {
  return entries.some(({ event }) => event.type === "decision" && event.verdict === "hold" && event.digest === digest);
}
