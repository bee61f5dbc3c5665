import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { PlanStep } from "../../../../core/plan.ts";
import { describeMore } from "../parts/describe-more.ts";
import { LongText } from "../parts/long-text.tsx";
import { type Clause, describeCondition } from "./describe-condition.ts";
import { SourceWords } from "./source-words.tsx";

export interface StepConditionsProps {
  readonly step: Pick<PlanStep, "args" | "at" | "otherArgs">;
}

const FIRST = 10;
const MORE = 100;
/** What is deeper is shown as the plan has it. */
const MAX_DEPTH = 3;

/** What a step asks of its arguments: `amount` is at most `250`. */
export function StepConditions({ step: { args = {}, at = {}, otherArgs } }: StepConditionsProps): JSX.Element {
  const [shown, setShown] = useState(FIRST);
  const entries = [...Object.entries(args), ...Object.entries(at)];
  const left = entries.length - shown;
  return (
    <ul class="plan-step-conditions">
      {entries.slice(0, shown).flatMap(([name, condition], index) =>
        describeCondition(condition).map((clause) => (
          <li key={`${index} ${clause.words}`}>
            <LongText class="code" lines="mark" first={100} value={name} /> <ClauseWords clause={clause} depth={0} />
          </li>
        )),
      )}
      {left > 0 && (
        <li>
          <button type="button" class="fold" onClick={() => setShown(shown + MORE)}>
            {describeMore(left, MORE, "arguments")}
          </button>
        </li>
      )}
      {otherArgs === "block" && <li class="quiet">{entries.length === 0 ? "No arguments." : "No other arguments."}</li>}
    </ul>
  );
}

interface ClauseProps {
  readonly clause: Clause;
  readonly depth: number;
}

function ClauseWords({ clause: { words, value, sources, inner }, depth }: ClauseProps): JSX.Element {
  return (
    <>
      <span class="quiet">{words}</span>
      {value !== undefined && <Code value={JSON.stringify(value)} />}
      {sources?.map((source, index) => (
        <span key={JSON.stringify(source)}>
          {index > 0 && <span class="quiet"> or</span>} <SourceWords source={source} />
        </span>
      ))}
      {inner &&
        (depth < MAX_DEPTH ? <Inner inner={inner} depth={depth + 1} /> : <Code value={JSON.stringify(inner)} />)}
    </>
  );
}

function Code({ value }: { readonly value: string }): ComponentChildren {
  return [" ", <LongText key="value" class="code" lines="mark" first={200} value={value} />];
}

function Inner({
  inner,
  depth,
}: {
  readonly inner: NonNullable<Clause["inner"]>;
  readonly depth: number;
}): JSX.Element {
  const [shown, setShown] = useState(FIRST);
  const left = inner.length - shown;
  return (
    <ul class="plan-step-inner">
      {inner.slice(0, shown).map((clauses, index) => (
        <li key={index}>
          {clauses.map((clause, at) => (
            <span key={clause.words}>
              {at > 0 && <span class="quiet">, and </span>}
              <ClauseWords clause={clause} depth={depth} />
            </span>
          ))}
        </li>
      ))}
      {left > 0 && (
        <li>
          <button type="button" class="fold" onClick={() => setShown(shown + MORE)}>
            {describeMore(left, MORE, "alternatives")}
          </button>
        </li>
      )}
    </ul>
  );
}
