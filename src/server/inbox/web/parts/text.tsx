import type { JSX } from "preact";
import { splitText, type TextPart } from "./split-text.ts";

const LINE_END = "\\n";

export interface TextProps {
  /** Whoever wrote it: a model, a tool, a user. */
  readonly value: string;
  /** Where a line ends: a mark in one long line unless told, a new line, or both. */
  readonly lines?: "mark" | "break" | "both";
  readonly class?: string;
}

/**
 * Text that nobody vouches for. It is never markup; what would not be seen or would turn the direction of writing is shown
 * as its number, and nothing in it moves what stands beside it.
 */
export function Text({ value, lines = "mark", class: name = "" }: TextProps): JSX.Element {
  return (
    <bdi dir="ltr" class={`text ${lines === "mark" ? "" : "text-lines"} ${name}`}>
      {splitText(value).map((part, index) => (
        <Part key={index} part={part} lines={lines} />
      ))}
    </bdi>
  );
}

function Part({ part, lines }: { readonly part: TextPart } & Required<Pick<TextProps, "lines">>): JSX.Element {
  switch (part.kind) {
    case "plain":
      return <>{part.text}</>;
    case "line-end":
      return (
        <>
          {lines !== "break" && <Hidden label={LINE_END} title="line end" />}
          {lines !== "mark" && "\n"}
        </>
      );
    case "hidden": {
      const label = part.count === 1 ? part.code : `${part.code} ×${part.count}`;
      return <Hidden label={label} title={part.name} />;
    }
    case "lookalike":
      return (
        <span class="lookalike" title="Looks like other letters than it is">
          {part.text}
          <Hidden label={part.code} title="looks like another letter" />
        </span>
      );
    default:
      return part satisfies never;
  }
}

function Hidden({ label, title }: { readonly label: string; readonly title: string }): JSX.Element {
  return (
    <span class="hidden-character" title={title}>
      {label}
    </span>
  );
}
