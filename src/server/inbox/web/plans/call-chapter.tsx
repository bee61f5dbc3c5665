import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { HoldStatusBadge, VerdictBadge } from "../parts/badge.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Text } from "../parts/text.tsx";
import { DecisionFacts } from "./decision-facts.tsx";
import { EntryLine } from "./entry-line.tsx";
import type { Chapter } from "./group-entries.ts";
import { AskedLine, FateLine } from "./hold-line.tsx";
import { type ListedArguments, listArguments } from "./list-arguments.ts";
import { previewJson } from "./preview-json.ts";
import { findEnd, tellChapter } from "./tell-chapter.ts";

export interface CallChapterProps {
  readonly chapter: Chapter;
}

/** A call: what it came to, its arguments, and all that is on record of it. */
export function CallChapter({ chapter }: CallChapterProps): JSX.Element {
  const { decision, verdict, hold } = findEnd(chapter);
  const tool = decision?.tool ?? hold?.tool ?? "";
  const listed = listArguments(chapter);
  const step = decision?.step ?? hold?.step;
  return (
    <article class={`card call ${isAlarming(chapter) ? "call-differs" : ""}`}>
      <header class="call-head">
        {hold ? <HoldStatusBadge status={hold.status} /> : verdict && <VerdictBadge verdict={verdict} />}
        <h3>{tool === "" ? "(no name)" : <Text class="tool" value={tool} />}</h3>
        <span class="quiet">{step === undefined ? "no step of the plan" : `step ${step + 1}`}</span>
      </header>
      {isAlarming(chapter) && (
        <p class="call-alarm">
          The server decided this call again from the record and came to another answer. What the client wrote is not
          what its policy gives.
        </p>
      )}
      {listed.length === 0 && <p class="call-fold quiet">The arguments are not on record.</p>}
      {listed.length > 1 && <p class="call-alarm">The arguments are not the same everywhere on record.</p>}
      {listed.map((one) => (
        <Arguments key={one.where} {...one} />
      ))}
      <ul class="lines">
        {tellChapter(chapter).map((line) => {
          switch (line.kind) {
            case "entry":
              return <EntryLine key={`entry ${line.entry.seq}`} entry={line.entry} hold={line.hold} />;
            case "asked":
              return <AskedLine key={`asked ${line.hold.holdId}`} hold={line.hold} />;
            case "fate":
              return <FateLine key={`fate ${line.hold.holdId}`} hold={line.hold} />;
            default:
              return line satisfies never;
          }
        })}
      </ul>
      <Record chapter={chapter} />
    </article>
  );
}

function isAlarming({ entries }: Chapter): boolean {
  return entries.some(({ verdictCheck }) => verdictCheck === "differs");
}

/** In one line, and exactly when that is unfolded. */
function Arguments({ where, args }: ListedArguments): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="call-fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class="sr-only">Arguments: </span>
        <Text class="code" value={previewJson(args)} />
      </summary>
      {isOpen && <JsonView label={`Arguments of ${where}`} value={args} />}
    </details>
  );
}

function Record({ chapter: { entries } }: CallChapterProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const decisions = entries.filter(({ event }) => event.type === "decision");
  if (decisions.length === 0) return null;
  return (
    <details class="call-record" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The record</summary>
      {isOpen &&
        decisions.map((entry) => <DecisionFacts key={entry.seq} entry={entry} isOneOfSome={decisions.length > 1} />)}
    </details>
  );
}
