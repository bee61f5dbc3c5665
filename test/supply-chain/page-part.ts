import { readFileSync, writeFileSync } from "node:fs";

const page = new URL("../../docs/supply-chain.md", import.meta.url);

/** The parts of `docs/supply-chain.md` that a script writes. */
export type PartName = "licences" | "size";

/** What the page has between the two marks of a part. */
export function readPart(name: PartName): string {
  return split(name)[1];
}

export function writePart(name: PartName, text: string): void {
  const [before, , after] = split(name);
  writeFileSync(page, `${before}${text}${after}`);
}

function split(name: PartName): readonly [before: string, part: string, after: string] {
  const text = readFileSync(page, "utf8");
  const [begin, end] = [`<!-- ${name} -->\n\n`, `\n\n<!-- end of ${name} -->`];
  const [before, rest] = text.split(begin);
  const [part, after] = rest?.split(end) ?? [];
  if (before === undefined || part === undefined || after === undefined) throw new Error(`The page has no ${name}`);
  return [before + begin, part, end + after];
}
