import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Plan, PlanStep } from "../../../../core/plan.ts";
import { Icon } from "../parts/icon.tsx";
import { LongText } from "../parts/long-text.tsx";
import { Text } from "../parts/text.tsx";
import { describeCalls } from "./describe-calls.ts";
import { StepConditions } from "./step-conditions.tsx";

export interface HoldPlanProps {
  readonly plan: Plan;
  /** The index of the step that the call is of. */
  readonly step?: number | undefined;
  /** How many calls each step has used up, for whoever looks back. */
  readonly used?: readonly number[] | undefined;
}

/** So many steps are shown before somebody asks for the others; the one that counts is always. */
const FIRST_STEPS = 12;

/** The plan as it was signed, with the step that the call uses. */
export function HoldPlan({ plan: { goal, steps }, step, used }: HoldPlanProps): JSX.Element {
  const [isWhole, setWhole] = useState(steps.length <= FIRST_STEPS);
  const shown = steps
    .map((one, index) => ({ one, index }))
    .filter(({ index }) => isWhole || index < FIRST_STEPS || index === step);
  return (
    <div class="plan">
      <p class="plan-goal">
        <LongText value={goal} first={400} />
      </p>
      {steps.length === 0 && <p class="quiet">It has no steps: it allows nothing.</p>}
      <ol class="plan-steps">
        {shown.map(({ one, index }) => (
          <Step key={index} step={one} number={index + 1} isCurrent={index === step} used={used?.[index]} />
        ))}
      </ol>
      {!isWhole && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          Show all {steps.length} steps
        </button>
      )}
    </div>
  );
}

interface StepProps {
  readonly step: PlanStep;
  readonly number: number;
  readonly isCurrent: boolean;
  readonly used: number | undefined;
}

function Step({ step, number, isCurrent, used }: StepProps): JSX.Element {
  const { tool, id, maxCalls } = step;
  return (
    <li class="plan-step" {...(isCurrent && { "aria-current": "step" as const })}>
      <span class="plan-step-number">{number}</span>
      <div class="plan-step-body">
        <p class="plan-step-tool">
          <Text class="tool" value={tool} />
          {id !== undefined && (
            <span class="quiet">
              named <Text class="code" value={id} />
            </span>
          )}
          <span class="quiet">{describeCalls(maxCalls, used)}</span>
          {isCurrent && (
            <span class="plan-step-current">
              <Icon name="hold" />
              this call
            </span>
          )}
        </p>
        <StepConditions step={step} />
      </div>
    </li>
  );
}
