import type { Json } from "../../../../core/json.ts";
import { cutText } from "../parts/cut-text.ts";

/** As much of it as a row has place for, and of each text in it. */
const MAX_CHARACTERS = 200;
const MAX_TEXT = 60;
const MAX_ENTRIES = 12;
const MAX_DEPTH = 3;

/** The beginning of a JSON value in one line, however much it is. */
export function previewJson(value: Json): string {
  return cut(preview(value, 0), MAX_CHARACTERS);
}

function preview(value: Json, depth: number): string {
  if (typeof value === "string") return JSON.stringify(cut(value, MAX_TEXT));
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) {
    return `[${depth < MAX_DEPTH ? join(value.slice(0, MAX_ENTRIES + 1).map((one) => preview(one, depth + 1))) : "…"}]`;
  }
  const entries = Object.entries(value).slice(0, MAX_ENTRIES + 1);
  if (entries.length === 0) return "{}";
  return `{ ${depth < MAX_DEPTH ? join(entries.map(([name, one]) => `${preview(name, 0)}: ${preview(one, depth + 1)}`)) : "…"} }`;
}

function join(parts: readonly string[]): string {
  const shown = parts.slice(0, MAX_ENTRIES);
  return [...shown, ...(parts.length > shown.length ? ["…"] : [])].join(", ");
}

function cut(text: string, length: number): string {
  return text.length > length ? `${cutText(text, 0, length)}…` : text;
}
