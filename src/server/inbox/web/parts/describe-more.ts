/** What a button says that unfolds as much as `most` of what is left. */
export function describeMore(left: number, most: number, what: string): string {
  const [shown, all] = [Math.min(left, most), left].map((count) => count.toLocaleString("en"));
  return left <= most ? `Show ${all} more ${what}` : `Show ${shown} of ${all} more ${what}`;
}
