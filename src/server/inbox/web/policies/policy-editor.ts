import { autocompletion } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";
import { basicSetup } from "codemirror";
import type { Issue } from "../../../../core/errors.ts";
import { editorHighlighting, editorLook, editorOnPhones } from "./editor-look.ts";
import { openEditorPlace } from "./editor-place.ts";
import { completePolicy } from "./policy-completions.ts";
import { findPlace, toDiagnostics } from "./policy-diagnostics.ts";
import { replaceSelection } from "./replace-selection.ts";

export interface PolicyEditorSetup {
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** Names of tools to choose from. */
  readonly listTools: () => readonly string[];
}

/** An editor that is in the page. */
export interface PolicyEditor {
  replace(text: string): void;
  mark(issues: readonly Issue[]): void;
  /** Goes to where an issue is. */
  show(issue: Issue): void;
  focus(): void;
  close(): void;
}

const KEYS = "Control and Space suggest, F8 goes to the next error, Control and ] indent, Tab leaves the editor.";

/** Tab leaves the editor, as it leaves every field. */
export function openPolicyEditor(parent: HTMLElement, setup: PolicyEditorSetup): PolicyEditor {
  const { text, onChange, listTools } = setup;
  const place = openEditorPlace(parent);
  const view = new EditorView({
    parent: place,
    root: place,
    doc: text,
    extensions: [
      basicSetup,
      yaml(),
      editorOnPhones,
      editorLook,
      editorHighlighting,
      EditorView.lineWrapping,
      replaceSelection,
      lintGutter(),
      autocompletion({ override: [completePolicy(listTools)], icons: false }),
      EditorView.contentAttributes.of({ "aria-label": "The policy, in YAML", "aria-description": KEYS, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  return {
    replace: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    mark: (issues) => view.dispatch(setDiagnostics(view.state, toDiagnostics(issues, view.state.doc))),
    show: (issue) => {
      const { from } = findPlace(issue, view.state.doc);
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}
