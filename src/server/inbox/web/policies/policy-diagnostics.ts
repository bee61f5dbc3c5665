import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { Issue } from "../../../../core/errors.ts";

/** What is marked of a line: from its column, one word, or the rest of a text in quotes. */
const MARKED = /^(?:"[^"]*"?|'[^']*'?|[^\s,:[\]{}]+|\S)/;

/**
 * The issues of a policy as the editor marks them. The text may have changed since they were found: a place that is not
 * there any more becomes the nearest that is.
 */
export function toDiagnostics(issues: readonly Issue[], text: Text): Diagnostic[] {
  return issues
    .map((issue): Diagnostic => ({ ...findPlace(issue, text), severity: "error", message: describeIssue(issue) }))
    .sort((a, b) => a.from - b.from);
}

/** `rules[2].decision: expected one of ...`. */
export function describeIssue({ path, message }: Issue): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** Where an issue is in the text: from the column to the end of the word that stands there. */
export function findPlace({ line = 1, column = 1 }: Issue, text: Text): { readonly from: number; readonly to: number } {
  const found = text.line(Math.min(Math.max(line, 1), text.lines));
  const from = Math.min(found.from + Math.max(column, 1) - 1, found.to);
  const marked = MARKED.exec(found.text.slice(from - found.from))?.[0].length ?? 0;
  if (marked > 0) return { from, to: from + marked };
  // At the end of a line there is nothing to mark: the line's own text is.
  return { from: found.from + (found.text.length - found.text.trimStart().length), to: found.to };
}
