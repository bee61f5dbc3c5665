import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { compareTexts } from "./compare-json.ts";
import { cutText } from "./cut-text.ts";
import { describeMore } from "./describe-more.ts";
import { Text } from "./text.tsx";

export interface JsonTextProps {
  readonly value: string;
  /** What is not in this one is marked. */
  readonly other: string | undefined;
}

/** So many characters are shown before somebody asks for more, and so many more each time. */
const FIRST_CHARACTERS = 400;
const MORE_CHARACTERS = 10_000;
/** As much of what is the same is shown before what is not, in a long text. */
const CONTEXT = 60;

/** A string in JSON. Its lines are lines, with a mark where they end. */
export function JsonText({ value, other }: JsonTextProps): JSX.Element {
  const [shown, setShown] = useState(FIRST_CHARACTERS);
  const [isWhole, setWhole] = useState(false);
  const { before, changed, after } = useMemo(
    () => (other === undefined ? { before: value, changed: "", after: "" } : compareTexts(value, other)),
    [value, other],
  );
  const skipped = other !== undefined && !isWhole && before.length > 2 * CONTEXT ? before.length - CONTEXT : 0;
  const left = value.length - skipped - shown;
  const cut = createCutter(skipped, shown);
  return (
    <span class="json-string">
      {skipped > 0 && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          … {skipped.toLocaleString("en")} characters that are the same
        </button>
      )}
      <span class="json-quote">"</span>
      <Text lines="both" value={cut(before)} />
      {changed !== "" && (
        <mark>
          <Text lines="both" value={cut(changed)} />
        </mark>
      )}
      <Text lines="both" value={cut(after)} />
      <span class="json-quote">{left > 0 ? "…" : '"'}</span>
      {left > 0 && (
        <button type="button" class="fold" onClick={() => setShown(shown + MORE_CHARACTERS)}>
          {describeMore(left, MORE_CHARACTERS, "characters")}
        </button>
      )}
    </span>
  );
}

/** Gives as much of each text in turn as is shown, never half a character. */
function createCutter(skip: number, take: number): (text: string) => string {
  let toSkip = skip;
  let toTake = take;
  return (text) => {
    const from = Math.min(toSkip, text.length);
    const part = cutText(text, from, from + toTake);
    toSkip -= from;
    toTake -= part.length;
    return part;
  };
}
