import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { EMAIL_INPUT, Field } from "../parts/field.tsx";
import { findIssue } from "../parts/form-issues.ts";
import { addSample, isBlank, readSample, type SampleDraft } from "./sample-calls.ts";
import type { Samples } from "./use-samples.ts";

/** Calls that nobody has made, to try the policy on. */
export function SampleCalls({ samples: { drafts, change } }: { readonly samples: Samples }): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const add = useRef<HTMLDivElement>(null);
  const count = useRef(drafts.length);
  useEffect(() => {
    // Who adds one wants to write it; the button of one that is removed goes with it.
    if (drafts.length > count.current) list.current?.querySelector<HTMLElement>(".sample:last-child input")?.focus();
    if (drafts.length < count.current) add.current?.querySelector("button")?.focus();
    count.current = drafts.length;
  }, [drafts.length]);
  const replace = (id: number, over: Partial<SampleDraft>): void =>
    change(drafts.map((draft) => (draft.id === id ? { ...draft, ...over } : draft)));
  return (
    <div class="samples">
      <div ref={add} class="section-head">
        <h3>Sample calls</h3>
        <Button icon="plus" onClick={() => change(addSample(drafts))}>
          Add a sample call
        </Button>
      </div>
      {drafts.length === 0 && (
        <p class="quiet">Calls that the policy has to allow, hold or block, as if each were in a plan.</p>
      )}
      <div ref={list} class="sample-list">
        {drafts.map((draft, index) => (
          <Sample
            key={draft.id}
            draft={draft}
            number={index + 1}
            onChange={(over) => replace(draft.id, over)}
            onRemove={() => change(drafts.filter(({ id }) => id !== draft.id))}
          />
        ))}
      </div>
    </div>
  );
}

interface SampleProps {
  readonly draft: SampleDraft;
  readonly number: number;
  readonly onChange: (over: Partial<SampleDraft>) => void;
  readonly onRemove: () => void;
}

function Sample({ draft, number, onChange, onRemove }: SampleProps): JSX.Element {
  const issues = isBlank(draft) ? [] : (readSample(draft).issues ?? []);
  return (
    <fieldset class="form-group sample">
      <legend>Sample call {number}</legend>
      <div class="form-pair">
        <Field label="Tool" error={findIssue(issues, "tool")}>
          {(control) => (
            <input
              {...control}
              class="input code"
              autoComplete="off"
              autoCapitalize="none"
              spellcheck={false}
              value={draft.tool}
              onInput={({ currentTarget }) => onChange({ tool: currentTarget.value })}
            />
          )}
        </Field>
        <Field label="For" optional error={findIssue(issues, "user")}>
          {(control) => (
            <input
              {...control}
              {...EMAIL_INPUT}
              class="input"
              placeholder="an administrator"
              value={draft.user}
              onInput={({ currentTarget }) => onChange({ user: currentTarget.value })}
            />
          )}
        </Field>
      </div>
      <Field label="Arguments (JSON)" error={findIssue(issues, "args")}>
        {(control) => (
          <textarea
            {...control}
            class="textarea code"
            spellcheck={false}
            placeholder="{}"
            value={draft.args}
            onInput={({ currentTarget }) => onChange({ args: currentTarget.value })}
          />
        )}
      </Field>
      <div class="row-actions">
        <Button kind="quiet" icon="close" aria-label={`Remove sample call ${number}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}
