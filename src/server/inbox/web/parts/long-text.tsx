import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { cutText } from "./cut-text.ts";
import { describeMore } from "./describe-more.ts";
import { Text, type TextProps } from "./text.tsx";

export interface LongTextProps extends TextProps {
  /** So many characters are shown before somebody asks for more. */
  readonly first?: number;
}

const MORE = 10_000;

/** {@link Text} that may be long, folded after its first characters; in its own lines unless told. */
export function LongText({ value, first = 600, lines = "break", ...rest }: LongTextProps): JSX.Element {
  const [shown, setShown] = useState(first);
  const left = value.length - shown;
  return (
    <>
      <Text {...rest} lines={lines} value={left > 0 ? `${cutText(value, 0, shown)}…` : value} />
      {left > 0 && (
        <button type="button" class="fold" onClick={() => setShown(shown + MORE)}>
          {describeMore(left, MORE, "characters")}
        </button>
      )}
    </>
  );
}
