/** Says which tests are skipped and why: past the console, of which passing files show nothing. */
export function saySkipped(what: string, why: string): void {
  process.stderr.write(`Skipped: ${what}. ${why}\n`);
}
