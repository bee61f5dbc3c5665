import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { BLOCK_REASONS } from "../../../../core/verdict.ts";
import { AgentSelect } from "../parts/agent-select.tsx";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { isWide } from "../parts/window.ts";
import { hasRole } from "../session.ts";
import { type ChosenFilter, countFilters, fromLocalInput, type Range, toLocalInput } from "./decision-filter.ts";

export interface DecisionFiltersProps {
  readonly filter: ChosenFilter;
  readonly agents: readonly { readonly agentId: string; readonly name: string }[];
  /** Names that are in what is shown, to choose from. */
  readonly tools: readonly string[];
  readonly rules: readonly string[];
  readonly onChange: (filter: ChosenFilter) => void;
}

/** What of the history is shown. On a phone the fields are folded away. */
export function DecisionFilters(props: DecisionFiltersProps): JSX.Element {
  if (isWide.value) return <Fields {...props} />;
  const count = countFilters(props.filter);
  return (
    <details class="filters-fold">
      <summary>{count === 0 ? "Filters" : `Filters (${count})`}</summary>
      <Fields {...props} />
    </details>
  );
}

const RANGES: Readonly<Record<Range | "", string>> = {
  "": "Any time",
  hour: "Last hour",
  day: "Last 24 hours",
  week: "Last 7 days",
  month: "Last 30 days",
  custom: "From … to …",
};

const VERDICTS = { "": "Any verdict", allow: "Allowed", hold: "Held", block: "Blocked" } as const;

function Fields({ filter, agents, tools, rules, onChange }: DecisionFiltersProps): JSX.Element {
  const change = (changed: { readonly [Name in keyof ChosenFilter]?: ChosenFilter[Name] | undefined }): void => {
    const entries = Object.entries({ ...filter, ...changed }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    onChange(Object.fromEntries(entries));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> is not known to all browsers yet.
    <form class="filters" role="search" aria-label="Decisions" onSubmit={(event) => event.preventDefault()}>
      <Field label="Time">
        {({ id }) => (
          <Choice
            id={id}
            value={filter.range ?? ""}
            options={RANGES}
            onChange={(range) => change({ range: range as Range })}
          />
        )}
      </Field>
      <Field label="Verdict">
        {({ id }) => (
          <Choice
            id={id}
            value={filter.verdict ?? ""}
            options={VERDICTS}
            onChange={(verdict) => change({ verdict: verdict as NonNullable<ChosenFilter["verdict"]> })}
          />
        )}
      </Field>
      <Field label="Agent">
        {({ id }) => (
          <AgentSelect
            id={id}
            value={filter.agentId ?? ""}
            agents={agents}
            onChange={(agentId) => change({ agentId })}
          />
        )}
      </Field>
      {hasRole("admin") && (
        <Field label="Person">
          {({ id }) => (
            <Words id={id} mode="email" value={filter.user} hint="E-mail" onChange={(user) => change({ user })} />
          )}
        </Field>
      )}
      <Field label="Tool">
        {({ id }) => (
          <Words id={id} value={filter.tool} options={tools} hint="Any" onChange={(tool) => change({ tool })} />
        )}
      </Field>
      <Field label="Reason of a block">
        {({ id }) => (
          <Words
            id={id}
            value={filter.reason}
            options={[...new Set([...rules, ...BLOCK_REASONS])]}
            hint="Any"
            onChange={(reason) => change({ reason })}
          />
        )}
      </Field>
      {filter.range === "custom" && (
        <>
          <Field label="From">
            {({ id }) => <LocalTime id={id} value={filter.from} onChange={(from) => change({ from })} />}
          </Field>
          <Field label="To">
            {({ id }) => <LocalTime id={id} value={filter.to} onChange={(to) => change({ to })} />}
          </Field>
        </>
      )}
      {countFilters(filter) > 0 && (
        <Button kind="quiet" icon="close" class="filters-clear" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </form>
  );
}

interface ChoiceProps {
  readonly id: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

function Choice({ id, value, options, onChange }: ChoiceProps): JSX.Element {
  return (
    <select id={id} class="select" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {Object.entries(options).map(([name, words]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface WordsProps {
  readonly id: string;
  readonly mode?: "text" | "email";
  readonly value: string | undefined;
  readonly hint: string;
  readonly options?: readonly string[];
  /** When it is done, not with each letter: half a name is another one. */
  readonly onChange: (value: string) => void;
}

function Words({ id, mode = "text", value = "", hint, options = [], onChange }: WordsProps): JSX.Element {
  const list = `${id}-options`;
  // What is being typed is not taken back when an answer comes meanwhile.
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <>
      <input
        id={id}
        // Whatever is in the address is shown as it is: a field for e-mail would take some of it away.
        type="text"
        inputMode={mode}
        class="input"
        value={typed}
        placeholder={hint}
        autoComplete="off"
        spellcheck={false}
        list={list}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
      <datalist id={list}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </>
  );
}

interface LocalTimeProps {
  readonly id: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

function LocalTime({ id, value, onChange }: LocalTimeProps): JSX.Element {
  return (
    <input
      id={id}
      type="datetime-local"
      class="input"
      value={toLocalInput(value)}
      onChange={({ currentTarget }) => onChange(fromLocalInput(currentTarget.value))}
    />
  );
}
