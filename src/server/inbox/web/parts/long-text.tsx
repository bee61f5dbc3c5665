import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { describeMore } from "./describe-more.ts";
import { Text } from "./text.tsx";

export interface LongTextProps {
  readonly value: string;
  /** So many characters are shown before somebody asks for more. */
  readonly first?: number;
}

const MORE = 10_000;

/** Words that may be many, in their own lines, folded after the first of them. */
export function LongText({ value, first = 600 }: LongTextProps): JSX.Element {
  const [shown, setShown] = useState(first);
  const left = value.length - shown;
  return (
    <>
      <Text lines="break" value={left > 0 ? `${value.slice(0, shown)}…` : value} />
      {left > 0 && (
        <button type="button" class="fold" onClick={() => setShown(shown + MORE)}>
          {describeMore(left, MORE, "characters")}
        </button>
      )}
    </>
  );
}
