import type { JSX } from "preact";
import { EntryLine } from "./entry-line.tsx";
import type { Chapter } from "./group-entries.ts";
import { AskedLine, FateLine } from "./hold-line.tsx";
import { tellChapter } from "./tell-chapter.ts";

export interface ChapterLinesProps {
  readonly chapter: Chapter;
  /** As {@link EntryLine} has it. */
  readonly aloneAfter?: number;
}

/** What is on record in a chapter, with what became of its holds, a line each. */
export function ChapterLines({ chapter, ...shared }: ChapterLinesProps): JSX.Element {
  return (
    <ul class="lines">
      {tellChapter(chapter).map((line) => {
        switch (line.kind) {
          case "entry":
            return <EntryLine key={`entry ${line.entry.seq}`} entry={line.entry} hold={line.hold} {...shared} />;
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
