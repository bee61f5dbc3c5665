/** What somebody wrote into a field that takes several things, one on each line. */
export function splitLines(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ""))];
}
