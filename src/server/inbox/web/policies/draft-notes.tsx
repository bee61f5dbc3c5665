import type { JSX } from "preact";
import { Icon } from "../parts/icon.tsx";

export interface DraftNotesProps {
  /** What is in the editor was written earlier. */
  readonly isRestored: boolean;
  readonly isNew: boolean;
  /** The version that the text was begun from, and the one that counts. */
  readonly base: number;
  readonly version: number;
}

/** What one has to know of the text in the editor. */
export function DraftNotes({ isRestored, isNew, base, version }: DraftNotesProps): JSX.Element | null {
  if (!isRestored && !isNew) return null;
  return (
    <div class={base === version ? "note" : "note note-waiting"} role="status">
      <Icon name={base === version ? "policy" : "alert"} />
      <p>
        {isRestored && "These are changes of yours that were not published. "}
        {base !== version && `They were begun from version ${base}; meanwhile version ${version} has been published.`}
        {isNew &&
          !isRestored &&
          "This agent has no policy yet, so no plan of its can be signed. Here is one to start from."}
      </p>
    </div>
  );
}
