import { type Results, toMarkdown } from "./results.ts";

/** The pages with figures in them, from the root of the repository. */
export const PAGES = ["README.md", "docs/benchmarks.md", "docs/agentdojo.md", "docs/mutation-testing.md"] as const;

/**
 * Writes the figures into a page, between `<!-- bench NAME: WHAT -->` and `<!-- /bench -->`. NAME is a file of results,
 * WHAT the title of a table, the name of a figure, or `measured`: when and on what.
 *
 * @throws Error for what the results do not have, and for a mark without an end
 */
export function fillPage(text: string, results: (name: string) => Results): string {
  const starts = text.match(/<!-- bench /g)?.length ?? 0;
  let filled = 0;
  const page = text.replace(MARK, (_all, start: string, name: string, what: string, end: string) => {
    filled++;
    return `${start}${lookUp(results(name), what)}${end}`;
  });
  if (filled !== starts) throw new Error(`${starts} marks begin, and ${filled} are whole`);
  return page;
}

const MARK = /(<!-- bench ([a-z-]+): ((?:(?!-->).)+) -->)(?:(?!<!-- bench ).)*?(<!-- \/bench -->)/gs;

function lookUp({ measured, tables, figures }: Results, what: string): string {
  if (what === "measured") {
    const { on, node, cores, note } = measured;
    return `Node.js ${node}, ${cores} cores, ${on}${note ? `; ${note}` : ""}`;
  }
  const table = tables.find(({ title }) => title === what);
  if (table) return `\n\n${toMarkdown(table)}\n\n`;
  if (!Object.hasOwn(figures, what)) throw new Error(`the results have no ${what}`);
  return figures[what] ?? "";
}
