import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/states.tsx";
import { ChangesTable } from "./changes-table.tsx";
import { describeChanges } from "./describe-changes.ts";
import type { PolicyTrial } from "./policy-trial.ts";
import { addSample, toSample } from "./sample-calls.ts";
import { SampleCalls } from "./sample-calls.tsx";
import type { Samples } from "./use-samples.ts";
import { REPLAYS, type View } from "./view.ts";

export interface DryRunProps {
  readonly trial: PolicyTrial;
  readonly view: View;
  readonly samples: Samples;
  readonly onView: (view: Partial<View>) => void;
}

const NOTHING_ASKED = "Choose how many decisions to try it on, or add a sample call.";

/** What the text in the editor would change, as it is written. Nothing is changed by looking. */
export function DryRun({ trial, view, samples, onView }: DryRunProps): JSX.Element {
  const state = trial.state.value;
  const result = trial.result.value;
  const error = trial.error.value;
  const isAsked = view.replay > 0 || (result?.rows.length ?? 0) > 0;
  return (
    <section class="dry-run" aria-labelledby="dry-run">
      <div class="section-head">
        <h2 id="dry-run">What would change</h2>
        {state === "waiting" && <span class="spinner dry-run-spinner" />}
        <Controls view={view} onView={onView} />
      </div>
      <p class={`dry-run-summary dry-run-${state}`} role="status">
        {state === "waiting" && !result && "Trying it…"}
        {state === "invalid" && "The policy has errors, so it cannot be tried. "}
        {state === "failed" && "It could not be tried. "}
        {(state === "invalid" || state === "failed") &&
          result &&
          "Below is what the last text that could be tried would change."}
        {(state === "done" || state === "waiting") && result && (isAsked ? describeChanges(result) : NOTHING_ASKED)}
      </p>
      {error && (
        <div class="dry-run-error">
          <ErrorNote error={error} />
          <Button icon="refresh" onClick={() => trial.retry()}>
            Try again
          </Button>
        </div>
      )}
      {result && (
        <ChangesTable
          rows={result.rows}
          onlyChanges={view.onlyChanges}
          isOld={state === "invalid" || state === "failed"}
          onSample={({ tool, args, user }) => samples.change(addSample(samples.drafts, toSample(tool, args, user)))}
        />
      )}
      <SampleCalls samples={samples} />
    </section>
  );
}

function Controls({ view, onView }: Pick<DryRunProps, "view" | "onView">): JSX.Element {
  const id = useId();
  const choices = REPLAYS.includes(view.replay) ? REPLAYS : [...REPLAYS, view.replay].toSorted((a, b) => a - b);
  return (
    <div class="dry-run-controls">
      <label class="check">
        <input
          type="checkbox"
          checked={view.onlyChanges}
          onChange={({ currentTarget }) => onView({ onlyChanges: currentTarget.checked })}
        />
        Only changes
      </label>
      <label for={id}>Last decisions</label>
      <select
        id={id}
        class="select dry-run-select"
        value={String(view.replay)}
        onChange={({ currentTarget }) => onView({ replay: Number(currentTarget.value) })}
      >
        {choices.map((count) => (
          <option key={count} value={String(count)}>
            {count === 0 ? "none" : count.toLocaleString("en")}
          </option>
        ))}
      </select>
    </div>
  );
}
