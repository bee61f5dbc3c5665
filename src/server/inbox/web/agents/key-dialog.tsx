import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AgentAnswer, CreatedKeyAnswer, CreateKeyBody } from "../../../../core/api/agents.ts";
import { EMAIL_INPUT, Field } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { refuse } from "../parts/form-issues.ts";
import { splitLines } from "../parts/split-lines.ts";
import { Text } from "../parts/text.tsx";
import { useOpener } from "../parts/use-opener.ts";
import { api, session } from "../session.ts";
import { MadeKeyDialog } from "./made-key-dialog.tsx";

export interface KeyDialogProps {
  readonly agent: AgentAnswer;
  readonly onClose: () => void;
  readonly onMade: () => void;
}

/** Makes a key, and shows it once. */
export function KeyDialog({ agent, onClose, onMade }: KeyDialogProps): JSX.Element {
  const state = session.value;
  const [owner, setOwner] = useState(state.status === "signed-in" ? state.person.email : "");
  const [name, setName] = useState("");
  const [isForAll, setForAll] = useState(true);
  const [actsFor, setActsFor] = useState("");
  const [made, setMade] = useState<CreatedKeyAnswer>();
  useOpener();
  const make = async (): Promise<void> => {
    const emails = splitLines(actsFor);
    const wrong = [
      ...(owner.trim() === "" ? [{ path: "owner", message: "Say who answers for the key." }] : []),
      ...(!isForAll && emails.length === 0 ? [{ path: "actsFor", message: "Name at least one person." }] : []),
    ];
    if (wrong.length > 0) throw refuse(wrong);
    const body: CreateKeyBody = {
      owner: owner.trim(),
      ...(!isForAll && { actsFor: emails }),
      ...(name.trim() !== "" && { name: name.trim() }),
    };
    setMade(await api.post<CreatedKeyAnswer>(`/v1/agents/${encodeURIComponent(agent.agentId)}/keys`, body));
    onMade();
  };
  if (made) return <MadeKeyDialog key="made" made={made} onClose={onClose} />;
  return (
    <FormDialog
      title="Make a key"
      submit="Make the key"
      icon="key"
      fields={["owner", "name", "actsFor"]}
      onClose={onClose}
      onSubmit={make}
      explain={({ code }) =>
        code === "unknown_user"
          ? "The server does not know one of these people. Add them under People first."
          : undefined
      }
    >
      {(errorAt) => (
        <>
          <p>
            A key of <Text class="strong" value={agent.name} />
          </p>
          <Field label="Name" optional error={errorAt("name")} help="Where it is used, for example.">
            {(control) => (
              <input
                {...control}
                class="input"
                autoComplete="off"
                maxLength={100}
                value={name}
                data-focus
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            )}
          </Field>
          <Field
            label="Owner"
            error={errorAt("owner")}
            help="The e-mail address of the person who answers for it. They may not approve its holds."
          >
            {(control) => (
              <input
                {...control}
                {...EMAIL_INPUT}
                class="input"
                value={owner}
                onInput={({ currentTarget }) => setOwner(currentTarget.value)}
              />
            )}
          </Field>
          <label class="check">
            <input
              type="checkbox"
              checked={isForAll}
              onChange={({ currentTarget }) => setForAll(currentTarget.checked)}
            />
            <span>It may act for everybody whom the server knows</span>
          </label>
          {!isForAll && (
            <Field
              label="People that it may act for"
              error={errorAt("actsFor")}
              help="One e-mail address on each line."
            >
              {(control) => (
                <textarea
                  {...control}
                  class="textarea"
                  spellcheck={false}
                  autoCapitalize="none"
                  value={actsFor}
                  onInput={({ currentTarget }) => setActsFor(currentTarget.value)}
                />
              )}
            </Field>
          )}
        </>
      )}
    </FormDialog>
  );
}
