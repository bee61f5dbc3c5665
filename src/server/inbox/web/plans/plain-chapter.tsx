import type { JSX } from "preact";
import { ChapterLines } from "./chapter-lines.tsx";
import type { Chapter } from "./group-entries.ts";

export interface PlainChapterProps {
  readonly chapter: Chapter;
  /** The number of the first entry that is loaded. */
  readonly first: number;
}

/** What is of no call: a signature, the end, the hold of the whole plan; and what refers to a decision that there is not. */
export function PlainChapter({ chapter, first }: PlainChapterProps): JSX.Element {
  return <ChapterLines chapter={chapter} aloneAfter={first} />;
}
