import type { JSX } from "preact";
import { NoticeDialog } from "../parts/dialog.tsx";
import { areShortcutsOn, turnShortcuts } from "./shortcuts.ts";

const ROWS: readonly (readonly [string, string])[] = [
  ["j", "the next hold"],
  ["k", "the one before"],
  ["a", "approve; asks once more"],
  ["r", "reject, with a comment"],
  ["Ctrl+Enter", "decide, while writing a comment"],
  ["Esc", "close, or go back to the list"],
  ["?", "this help"],
];

export function HelpDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <NoticeDialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {ROWS.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <label class="hold-compare">
        <input
          type="checkbox"
          checked={areShortcutsOn.value}
          onChange={({ currentTarget }) => turnShortcuts(currentTarget.checked)}
        />
        Single keys act in this browser
      </label>
    </NoticeDialog>
  );
}
