import type { InboxItem } from "../../../../core/api/holds.ts";

/** Oldest deadline first, as the server gives them; those of one second stay in the order in which they came. */
export function mergeHolds(holds: readonly InboxItem[], more: readonly InboxItem[]): readonly InboxItem[] {
  const byId = new Map(holds.map((hold) => [hold.holdId, hold]));
  for (const hold of more) byId.set(hold.holdId, hold);
  return [...byId.values()].sort((a, b) => a.expiresAt - b.expiresAt);
}

/** The hold so many places after another one, not past the ends; the first if there is no such other one. */
export function findNeighbour(holds: readonly InboxItem[], id: string | undefined, places: number): string | undefined {
  const at = holds.findIndex(({ holdId }) => holdId === id);
  const wanted = at === -1 ? 0 : Math.min(Math.max(at + places, 0), holds.length - 1);
  return holds[wanted]?.holdId;
}

/** The hold to go on with when one has been decided: the next that waits, or else the one before. */
export function findSuccessor(holds: readonly InboxItem[], id: string): string | undefined {
  const at = holds.findIndex(({ holdId }) => holdId === id);
  const waiting = (hold: InboxItem): boolean => hold.holdId !== id && hold.status === "pending";
  return (holds.slice(at + 1).find(waiting) ?? holds.slice(0, Math.max(at, 0)).findLast(waiting))?.holdId;
}

/** Whether people can still decide, by the server's clock. */
export function isOpen({ status, expiresAt }: Pick<InboxItem, "status" | "expiresAt">, now: number): boolean {
  return status === "pending" && now < expiresAt * 1000;
}
