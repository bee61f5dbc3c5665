import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { HoldStatusBadge, VerdictBadge } from "../parts/badge.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Text } from "../parts/text.tsx";
import { ChapterLines } from "./chapter-lines.tsx";
import { DecisionFacts } from "./decision-facts.tsx";
import type { Chapter } from "./group-entries.ts";
import { type ListedArguments, listArguments } from "./list-arguments.ts";
import { previewJson } from "./preview-json.ts";
import { findEnd } from "./tell-chapter.ts";

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
      <ChapterLines chapter={chapter} />
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
