import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Plan } from "../../../../core/plan.ts";
import type { SourceMatch } from "../../../../core/sources/find-source.ts";
import { cutText } from "../parts/cut-text.ts";
import { describeMore } from "../parts/describe-more.ts";
import { Icon } from "../parts/icon.tsx";
import { LongText } from "../parts/long-text.tsx";
import { Text } from "../parts/text.tsx";
import type { Origin } from "./list-origins.ts";
import { Place } from "./source-words.tsx";

export interface ValueOriginsProps {
  readonly origins: readonly Origin[];
  readonly plan: Plan | undefined;
  /** Of the plan's page; that of the page itself unless told. */
  readonly href?: string;
}

const FIRST = 8;
const FIRST_SOURCES = 3;
const MORE = 50;
const MAX_VALUE = 120;

/** Where the values of a call came from, and which of them nobody has fixed. */
export function ValueOrigins({ origins, plan, href = "" }: ValueOriginsProps): JSX.Element | null {
  const [shown, setShown] = useState(FIRST);
  if (origins.length === 0) return null;
  const left = origins.length - shown;
  return (
    <ul class="origins" aria-label="Where the values came from">
      {origins.slice(0, shown).map((origin) => (
        <li key={`${origin.isOpen} ${origin.name}`} class={origin.isOpen ? "origin origin-open" : "origin"}>
          <Icon name={origin.isOpen ? "alert" : "check"} />
          <p>
            <LongText class="code strong" lines="mark" first={100} value={origin.name} /> <Value origin={origin} />
            <span class="origin-words">
              <Words origin={origin} plan={plan} href={href} />
            </span>
          </p>
        </li>
      ))}
      {left > 0 && (
        <li>
          <button type="button" class="fold" onClick={() => setShown(shown + MORE)}>
            {describeMore(left, MORE, "arguments")}
          </button>
        </li>
      )}
    </ul>
  );
}

function Value({ origin: { value } }: { readonly origin: Origin }): JSX.Element | null {
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  return <Text class="code" value={text.length > MAX_VALUE ? `${cutText(text, 0, MAX_VALUE)}…` : text} />;
}

interface WordsProps extends Required<Pick<ValueOriginsProps, "plan" | "href">> {
  readonly origin: Origin;
}

function Words({ origin: { isOpen, sources }, plan, href }: WordsProps): JSX.Element {
  const [shown, setShown] = useState(FIRST_SOURCES);
  if (sources.length === 0) return <>Nobody has fixed this value: it is the model’s own words.</>;
  const left = sources.length - shown;
  return (
    <>
      {isOpen ? "Nobody has fixed this value: it came from " : "It came from "}
      {sources.slice(0, shown).map((source, index) => (
        <span key={index}>
          {index > 0 && " and "}
          <From source={source} plan={plan} href={href} />
        </span>
      ))}
      {left > 0 ? (
        <button type="button" class="fold" onClick={() => setShown(shown + MORE)}>
          {describeMore(left, MORE, "sources")}
        </button>
      ) : (
        "."
      )}
    </>
  );
}

interface FromProps extends Required<Pick<ValueOriginsProps, "plan" | "href">> {
  readonly source: SourceMatch;
}

function From({ source: { from, seq, path }, plan, href }: FromProps): JSX.Element {
  if (from === "task") return <>the user’s words</>;
  const tool = plan?.steps.find(({ id }) => id === from)?.tool ?? from;
  return (
    <>
      the result of <Text class="tool" value={tool} />
      {path !== undefined && <Place path={path} />}
      {seq !== undefined && (
        <>
          {" "}
          (<a href={`${href}#seq-${seq}`}>call {seq}</a>)
        </>
      )}
    </>
  );
}
