import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Json, JsonObject } from "../../../../core/json.ts";
import { compareEntries, hasAtMost, isContainer, type JsonEntry } from "./compare-json.ts";
import { describeMore } from "./describe-more.ts";
import { JsonText } from "./json-text.tsx";
import { LongText } from "./long-text.tsx";

export interface JsonViewProps {
  readonly value: Json;
  /** What is marked is what is not in this one. */
  readonly against?: Json | undefined;
  /** For those who hear the page. */
  readonly label?: string;
}

/** So many entries are shown before somebody asks for more, and so many more each time. */
const FIRST_ENTRIES = 25;
const MORE_ENTRIES = 200;
const FIRST_OF_NAME = 200;
/** What has at most so many values in it is open from the beginning, wherever it is. */
const OPEN_VALUES = 24;
const OPEN_DEPTH = 2;

/** A JSON value to read, whatever is in it: nothing is markup, long values are folded, differences are marked. */
export function JsonView({ value, against, label = "Arguments" }: JsonViewProps): JSX.Element {
  const mark = against === undefined || isContainer(value) || value === against ? "same" : "changed";
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section class="json" aria-label={label} tabIndex={0}>
      <Entry entry={{ name: undefined, value, mark, ...(against !== undefined && { was: against }) }} depth={0} />
    </section>
  );
}

const SIGNS = { same: "", changed: "~", added: "+", removed: "−" } as const;
const WORDS = { same: "", changed: "changed: ", added: "added: ", removed: "removed: " } as const;

interface EntryProps {
  readonly entry: JsonEntry;
  readonly depth: number;
  readonly isLast?: boolean;
}

function Entry({ entry, depth, isLast = true }: EntryProps): JSX.Element {
  const { name, value, mark, was } = entry;
  return (
    <div class={`json-entry json-${mark}`}>
      {mark !== "same" && (
        <span class="json-sign">
          <span aria-hidden="true">{SIGNS[mark]}</span>
          <span class="sr-only">{WORDS[mark]}</span>
        </span>
      )}
      {name !== undefined && (
        <>
          <LongText class="json-name" lines="mark" first={FIRST_OF_NAME} value={name} />
          <span class="json-punctuation">: </span>
        </>
      )}
      {isContainer(value) ? (
        <Container value={value} was={mark === "same" ? was : undefined} depth={depth} />
      ) : (
        <Scalar value={value} was={mark === "changed" ? was : undefined} />
      )}
      {!isLast && <span class="json-punctuation">,</span>}
      {mark === "changed" && was !== undefined && (
        <div class="json-was">
          <span class="json-was-label">was </span>
          {isContainer(was) ? <Container value={was} depth={depth + 1} /> : <Scalar value={was} against={value} />}
        </div>
      )}
    </div>
  );
}

interface ContainerProps {
  readonly value: JsonObject | readonly Json[];
  readonly was?: Json | undefined;
  readonly depth: number;
}

function Container({ value, was, depth }: ContainerProps): JSX.Element {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH || hasAtMost(value, OPEN_VALUES));
  const [shown, setShown] = useState(FIRST_ENTRIES);
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  const entries = isOpen ? compareEntries(value, was) : [];
  const size = Object.keys(value).length;
  if (isOpen && entries.length === 0) return <span class="json-punctuation">{`${open}${close}`}</span>;
  if (!isOpen) {
    return (
      <button type="button" class="fold" onClick={() => setOpen(true)}>
        {`${open} ${size} ${isArray ? "items" : "fields"} ${close}`}
      </button>
    );
  }
  const left = entries.length - shown;
  return (
    <>
      <span class="json-punctuation">{open}</span>
      <div class="json-entries">
        {entries.slice(0, shown).map((entry, index) => (
          <Entry key={entry.name ?? index} entry={entry} depth={depth + 1} isLast={index === entries.length - 1} />
        ))}
        {left > 0 && (
          <button type="button" class="fold" onClick={() => setShown(shown + MORE_ENTRIES)}>
            {describeMore(left, MORE_ENTRIES, isArray ? "items" : "fields")}
          </button>
        )}
      </div>
      <span class="json-punctuation">{close}</span>
    </>
  );
}

interface ScalarProps {
  readonly value: null | boolean | number | string;
  /** What it was before. */
  readonly was?: Json | undefined;
  /** What it is now. */
  readonly against?: Json;
}

function Scalar({ value, was, against }: ScalarProps): JSX.Element {
  if (typeof value !== "string") return <span class="json-literal">{String(value)}</span>;
  const other = was ?? against;
  return <JsonText value={value} other={typeof other === "string" ? other : undefined} />;
}
