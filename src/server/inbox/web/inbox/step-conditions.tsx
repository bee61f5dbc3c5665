import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PlanStep } from "../../../../core/plan.ts";
import { describeMore } from "../parts/describe-more.ts";
import { LongText } from "../parts/long-text.tsx";
import { describeCondition } from "./describe-condition.ts";

export interface StepConditionsProps {
  readonly args: NonNullable<PlanStep["args"]>;
}

const FIRST = 10;
const MORE = 100;

/** What a step asks of its arguments: `amount` is at most `250`. */
export function StepConditions({ args }: StepConditionsProps): JSX.Element {
  const [shown, setShown] = useState(FIRST);
  const entries = Object.entries(args);
  const left = entries.length - shown;
  return (
    <ul class="plan-step-conditions">
      {entries.slice(0, shown).flatMap(([name, condition]) =>
        describeCondition(condition).map(({ words, value }) => (
          <li key={`${words} ${name}`}>
            <LongText class="code" lines="mark" first={100} value={name} /> <span class="quiet">{words}</span>{" "}
            <LongText class="code" lines="mark" first={200} value={JSON.stringify(value)} />
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
    </ul>
  );
}
