import type { OverviewAnswer, OverviewQuery } from "../../core/api/index.ts";
import type { ServerContext } from "../handler.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Each at most two and a half times the one before, so that there are 24 to 60 parts whatever is asked for. */
const PART_LENGTHS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 7].map((count) => count * DAY),
];
const MAX_PARTS = 60;
const NOTHING = { allow: 0, hold: 0, block: 0 } as const;

/** How much was decided and how, of all agents or of one, with what waits for somebody now. */
export async function getOverview(
  { store, clock }: Pick<ServerContext, "store" | "clock">,
  { hours = 24, agentId }: OverviewQuery,
): Promise<OverviewAnswer> {
  const now = clock();
  const { from, partMs, parts } = cutTime(hours * HOUR, now);
  const ofAgent = agentId === undefined ? {} : { agentId };
  const [counts, pendingHolds, flaggedPlans] = await Promise.all([
    store.auditEntries.counts({ from, partMs, parts, ...ofAgent }),
    store.holds.countPending({ now, ...ofAgent }),
    store.plans.countFlagged({ from, ...ofAgent }),
  ]);
  return {
    from,
    to: from + parts * partMs,
    partMs,
    parts: Array.from({ length: parts }, (_, part) => {
      return { at: from + part * partMs, ...(counts.parts.get(part) ?? NOTHING) };
    }),
    reasons: counts.reasons,
    tools: counts.tools,
    pendingHolds,
    flaggedPlans,
  };
}

/** Parts of a round length that begin at round times: all of the time that is asked for, and the rest of the last one. */
export function cutTime(
  lengthMs: number,
  now: number,
): { readonly from: number; readonly partMs: number; readonly parts: number } {
  const partsOf = (partMs: number): number => Math.ceil(lengthMs / partMs) + 1;
  const partMs = PART_LENGTHS.find((length) => partsOf(length) <= MAX_PARTS) ?? 7 * DAY;
  return { from: Math.floor((now - lengthMs) / partMs) * partMs, partMs, parts: partsOf(partMs) };
}
