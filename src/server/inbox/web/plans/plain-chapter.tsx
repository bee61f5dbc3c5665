import type { JSX } from "preact";
import { EntryLine } from "./entry-line.tsx";
import type { Chapter } from "./group-entries.ts";
import { AskedLine, FateLine } from "./hold-line.tsx";
import { tellChapter } from "./tell-chapter.ts";

export interface PlainChapterProps {
  readonly chapter: Chapter;
  /** The number of the first entry that is loaded. */
  readonly first: number;
}

/** What is of no call: a signature, the end, the hold of the whole plan; and what refers to a decision that there is not. */
export function PlainChapter({ chapter, first }: PlainChapterProps): JSX.Element {
  return (
    <ul class="lines">
      {tellChapter(chapter).map((line) => {
        switch (line.kind) {
          case "entry":
            return <EntryLine key={`entry ${line.entry.seq}`} entry={line.entry} hold={line.hold} aloneAfter={first} />;
          case "asked":
            return <AskedLine key={`asked ${line.hold.holdId}`} hold={line.hold} />;
          case "fate":
            return <FateLine key={`fate ${line.hold.holdId}`} hold={line.hold} />;
          default:
            return line satisfies never;
        }
      })}
    </ul>
  );
}
