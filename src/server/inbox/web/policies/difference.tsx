import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { editorLook } from "./editor-look.ts";
import { openEditorPlace } from "./editor-place.ts";

export interface DifferenceProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

/** What differs between two texts, line by line; long stretches that are the same are folded. */
export function Difference({ before, after, label }: DifferenceProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const isSame = before === after;
  useEffect(() => {
    if (!place.current) return;
    const root = openEditorPlace(place.current);
    const view = new EditorView({
      parent: root,
      root,
      doc: after,
      extensions: [
        lineNumbers(),
        editorLook,
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
        unifiedMergeView({
          original: before,
          mergeControls: false,
          collapseUnchanged: { margin: 3, minSize: 6 },
        }),
      ],
    });
    return () => view.destroy();
  }, [before, after, label]);
  if (isSame) return <p class="quiet">There is no difference.</p>;
  return <div ref={place} class="difference" />;
}
