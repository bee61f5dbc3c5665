import type { JSX } from "preact";
import { Icon } from "../parts/icon.tsx";
import { Text } from "../parts/text.tsx";
import { readFlag } from "./read-flag.ts";
import { entryId } from "./use-wanted.ts";

/** Why somebody should look at this plan. */
export function FlagNote({ flagged }: { readonly flagged: unknown }): JSX.Element {
  const { words, doubts } = readFlag(flagged);
  return (
    <div class="note note-bad">
      <Icon name="alert" />
      <div>
        <strong>Somebody should look at this plan</strong>
        <p>{words}</p>
        {doubts.length > 0 && (
          <ul>
            {doubts.map(({ seq, problem }, index) => (
              <li key={index}>
                <a href={`#${entryId(seq)}`}>Entry {seq}</a>: <Text value={problem} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
