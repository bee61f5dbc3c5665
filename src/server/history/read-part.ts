import type { Store, StoredEntry } from "../store/index.ts";
import { MAX_BYTES } from "./list-decisions.ts";

/** A plan's entries from a number on, as many as are together within the bounds of an answer. */
export async function readPart(
  { auditEntries }: Pick<Store, "auditEntries">,
  planId: string,
  range: { readonly fromSeq: number; readonly limit: number },
): Promise<readonly StoredEntry[]> {
  const count = countFitting(await auditEntries.sizesOfPlan(planId, range));
  return count === 0 ? [] : await auditEntries.ofPlan(planId, { ...range, limit: count });
}

/** How many of them are together within the bounds of an answer, and one if there is one. */
export function countFitting(sizes: readonly number[]): number {
  let bytes = 0;
  const over = sizes.findIndex((size, index) => {
    bytes += size;
    return index > 0 && bytes > MAX_BYTES;
  });
  return over === -1 ? sizes.length : over;
}
