import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";

/** A cell, and what it is painted in. */
export type Cell = string | { readonly text: string; readonly style: Parameters<Paint>[0] };

/** Rows under a heading, in columns. What is in a cell may come from anybody. */
export function printTable(heading: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint): string {
  const cells = [heading.map((text): Cell => ({ text, style: "dim" })), ...rows].map((row) => row.map(toCell));
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => lengthOf(row[column]?.text ?? ""))));
  return cells.map((row) => `${printRow(row, widths, paint)}\n`).join("");
}

interface PaintedCell {
  readonly text: string;
  readonly style?: Parameters<Paint>[0];
}

function toCell(cell: Cell): PaintedCell {
  return typeof cell === "string" ? { text: printable(cell) } : { ...cell, text: printable(cell.text) };
}

function printRow(row: readonly PaintedCell[], widths: readonly number[], paint: Paint): string {
  const last = row.findLastIndex(({ text }) => text !== "");
  return row
    .slice(0, last + 1)
    .map(({ text, style }, column) => {
      // Nothing after the last that says something, so that no line ends in spaces.
      const space = column === last ? "" : " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(text)));
      return (style ? paint(style, text) : text) + space;
    })
    .join("  ");
}

function lengthOf(text: string): number {
  return [...text].length;
}
