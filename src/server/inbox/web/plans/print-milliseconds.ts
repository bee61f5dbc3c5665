/** How long something took: `25 ms`, `1.4 s`, `3 min`. */
export function printMilliseconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds).toLocaleString("en")} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toLocaleString("en", { maximumFractionDigits: 1 })} s`;
  return `${Math.round(milliseconds / 60_000).toLocaleString("en")} min`;
}
