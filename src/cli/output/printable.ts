import { HIDDEN_CHARACTER } from "../../core/hidden-characters.ts";

const HIDDEN = new RegExp(HIDDEN_CHARACTER, "gu");

/**
 * Text for a terminal. What comes from a file, a database or a model may hold sequences that move the cursor, change
 * the window or turn the direction of writing; each such character is shown as its number, and lines stay one line.
 */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll(HIDDEN, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/** One JSON document. The same characters are escaped in it, where JSON itself would leave them. */
export function printJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "null";
  // The only control characters that are left are the ends of its lines.
  return `${text.replaceAll(HIDDEN, (one) => (one === "\n" ? one : escapeUnits(one)))}\n`;
}

function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
    "",
  );
}
