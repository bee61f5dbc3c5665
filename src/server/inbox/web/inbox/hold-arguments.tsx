import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { SimilarCall } from "../../../../core/api/holds.ts";
import type { Json } from "../../../../core/json.ts";
import { countDifferences } from "../parts/compare-json.ts";
import { JsonView } from "../parts/json-view.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";

export interface HoldArgumentsProps {
  readonly args: Json;
  readonly similar: SimilarCall | undefined;
  /** Where the values came from. */
  readonly children?: ComponentChildren;
}

/** Exactly what the tool will be given, and what of it differs from the last call like it that was let through. */
export function HoldArguments({ args, similar, children }: HoldArgumentsProps): JSX.Element {
  const [isCompared, setCompared] = useState(true);
  return (
    <section class="hold-section">
      <div class="hold-section-head">
        <h3>The arguments</h3>
        {similar && (
          <label class="hold-compare">
            <input
              type="checkbox"
              checked={isCompared}
              onChange={({ currentTarget }) => setCompared(currentTarget.checked)}
            />
            Mark what differs
          </label>
        )}
      </div>
      {children}
      <JsonView value={args} against={isCompared ? (similar?.args as Json | undefined) : undefined} />
      <Comparison args={args} similar={similar} />
    </section>
  );
}

function Comparison({ args, similar }: Pick<HoldArgumentsProps, "args" | "similar">): JSX.Element {
  const differences = useMemo(() => (similar ? countDifferences(args, similar.args as Json) : 0), [args, similar]);
  if (!similar) return <p class="quiet">There is no earlier call of this tool to compare it with.</p>;
  return (
    <p class="quiet">
      {describeDifferences(differences)} <a href={`/plans/${similar.planId}`}>last such call</a> that was let through,{" "}
      <Moment at={similar.at} show="relative" />, for <Text value={similar.user} />.
    </p>
  );
}

function describeDifferences(differences: number): string {
  if (differences === 0) return "The same as in the";
  return `${differences === 1 ? "One difference" : `${differences} differences`} to the`;
}
