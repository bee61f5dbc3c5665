import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AgentAnswer, CreateAgentBody } from "../../../../core/api/agents.ts";
import { Field } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { refuse } from "../parts/form-issues.ts";
import { api } from "../session.ts";
import { SETTINGS_UNLESS_TOLD } from "./describe-settings.ts";
import { readSettings, type SettingsForm, toSettingsForm } from "./read-settings.ts";

export interface AgentDialogProps {
  /** Which is changed; none, if one is made. */
  readonly agent?: AgentAnswer;
  readonly onClose: () => void;
  readonly onSaved: (agent: AgentAnswer) => void;
}

const FIELDS = ["name", ...Object.keys(toSettingsForm()).map((field) => `settings.${field}`)];

/** The name of an agent and its settings. */
export function AgentDialog({ agent, onClose, onSaved }: AgentDialogProps): JSX.Element {
  const [name, setName] = useState(agent?.name ?? "");
  const [form, setForm] = useState(toSettingsForm(agent?.settings));
  const save = async (): Promise<void> => {
    const { settings, issues = [] } = readSettings(form);
    const wrong = name.trim() === "" ? [{ path: "name", message: "Give the agent a name." }, ...issues] : issues;
    if (!settings || wrong.length > 0) throw refuse(wrong);
    const body: CreateAgentBody = { name: name.trim(), settings };
    onSaved(
      agent
        ? await api.patch<AgentAnswer>(`/v1/agents/${encodeURIComponent(agent.agentId)}`, body)
        : await api.post<AgentAnswer>("/v1/agents", body),
    );
  };
  return (
    <FormDialog
      title={agent ? "Change the agent" : "Make an agent"}
      submit={agent ? "Save" : "Make the agent"}
      fields={FIELDS}
      onClose={onClose}
      onSubmit={save}
      explain={({ code }) =>
        code === "already_exists" ? "Another agent has this name. Choose another one." : undefined
      }
    >
      {(errorAt) => (
        <>
          <Field label="Name" error={errorAt("name")} help="The command line and policy tests go by it.">
            {(control) => (
              <input
                {...control}
                class="input"
                autoComplete="off"
                spellcheck={false}
                maxLength={100}
                value={name}
                data-focus
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            )}
          </Field>
          <SettingsFields form={form} onChange={setForm} errorAt={(field) => errorAt(`settings.${field}`)} />
        </>
      )}
    </FormDialog>
  );
}

interface SettingsFieldsProps {
  readonly form: SettingsForm;
  readonly onChange: (form: SettingsForm) => void;
  readonly errorAt: (field: keyof SettingsForm) => string | undefined;
}

const NUMBERS = [
  ["planTtlSeconds", "A token is valid for", "seconds"],
  ["planMaxAgeSeconds", "A plan can be renewed for", "seconds"],
  ["maxHolds", "Holds of a plan", "at most"],
] as const;

const EXAMPLE = '{ "session": { "calls": 50 } }';

function SettingsFields({ form, onChange, errorAt }: SettingsFieldsProps): JSX.Element {
  return (
    <fieldset class="form-group">
      <legend>Settings</legend>
      <div class="form-pair">
        {NUMBERS.map(([field, label, unit]) => (
          <Field key={field} label={`${label} (${unit})`} error={errorAt(field)}>
            {(control) => (
              <input
                {...control}
                class="input number-input"
                inputMode="numeric"
                autoComplete="off"
                placeholder={`${SETTINGS_UNLESS_TOLD[field]} unless told`}
                value={form[field]}
                onInput={({ currentTarget }) => onChange({ ...form, [field]: currentTarget.value })}
              />
            )}
          </Field>
        ))}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={form.approvePlans}
          onChange={({ currentTarget }) => onChange({ ...form, approvePlans: currentTarget.checked })}
        />
        <span>A person approves every plan before anything of it runs</span>
      </label>
      <Field
        label="Budget"
        optional
        error={errorAt("budget")}
        help={
          <>
            JSON, with <code>session</code>, <code>principal</code> and <code>payouts</code>; for example{" "}
            <code>{EXAMPLE}</code>
          </>
        }
      >
        {(control) => (
          <textarea
            {...control}
            class="textarea code"
            spellcheck={false}
            value={form.budget}
            onInput={({ currentTarget }) => onChange({ ...form, budget: currentTarget.value })}
          />
        )}
      </Field>
    </fieldset>
  );
}
