import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { HIDDEN_CHARACTER } from "../../../../core/hidden-characters.ts";

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-quiet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--accent-soft)", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 16%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)" },
  ".cm-foldPlaceholder": {
    backgroundColor: "var(--sunken)",
    border: "1px solid var(--line)",
    color: "var(--ink-quiet)",
  },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad) 1px",
    textUnderlineOffset: "3px",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "var(--shadow-high)",
    color: "var(--ink)",
    maxWidth: "min(480px, calc(100vw - 32px))",
  },
  ".cm-diagnostic": { padding: "6px 12px", fontFamily: "var(--sans)" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "260px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontFamily: "var(--sans)", fontStyle: "normal", color: "var(--ink-quiet)" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panels.cm-panels-top, .cm-panels.cm-panels-bottom": { borderColor: "var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)", color: "var(--ink)" },
  ".cm-button": {
    background: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    color: "var(--ink)",
  },
  ".cm-searchMatch": { backgroundColor: "var(--waiting-soft)", outline: "1px solid var(--waiting)" },
  // Differences: red is gone, green is new, and what of a line has changed is stronger.
  "&.cm-merge-b .cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--good-soft)" },
  "&.cm-merge-b .cm-changedText, .cm-insertedLine .cm-changedText": {
    background: "color-mix(in srgb, var(--good) 18%, transparent)",
  },
  ".cm-deletedChunk, .cm-deletedLine": { backgroundColor: "var(--bad-soft)" },
  ".cm-deletedChunk .cm-deletedText, .cm-deletedLine .cm-deletedText": {
    background: "color-mix(in srgb, var(--bad) 18%, transparent)",
  },
  "&.cm-merge-b .cm-changedLineGutter": { background: "var(--good)" },
  "& .cm-deletedLineGutter": { background: "var(--bad)" },
  "& .cm-collapsedLines": { background: "var(--sunken)", color: "var(--ink-quiet)", padding: "2px 12px" },
});

const highlighting = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--json-name)" },
  { tag: tags.string, color: "var(--json-string)" },
  { tag: [tags.keyword, tags.labelName, tags.typeName, tags.meta], color: "var(--json-literal)" },
  { tag: tags.lineComment, color: "var(--ink-quiet)", fontStyle: "italic" },
  { tag: [tags.separator, tags.punctuation, tags.brace, tags.squareBracket], color: "var(--ink-quiet)" },
]);

/** What nobody would see in a policy is marked, as it is everywhere else on these pages. */
const hidden = highlightSpecialChars({ addSpecialChars: new RegExp(`(?!\\t)${HIDDEN_CHARACTER.source}`, "u") });

/** The editors look like the page, light and dark, because they use its variables. */
export const editorLook: Extension = [theme, hidden];

/** Not where colours say what differs: both together are hard to read. */
export const editorHighlighting: Extension = syntaxHighlighting(highlighting);

/** Below 16 px, phones enlarge the page when the editor gets the focus. */
export const editorOnPhones: Extension = EditorView.theme({
  "@media (max-width: 800px)": { ".cm-scroller": { fontSize: "16px" } },
});
