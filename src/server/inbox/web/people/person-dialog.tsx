import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PersonAnswer, SavePersonBody } from "../../../../core/api/people.ts";
import type { Role } from "../../../../core/approvers.ts";
import { EMAIL_INPUT, Field } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { refuse } from "../parts/form-issues.ts";
import { splitLines } from "../parts/split-lines.ts";
import { Text } from "../parts/text.tsx";
import { api, loadSession, session } from "../session.ts";
import { explainPersonRefusal } from "./explain-person-refusal.ts";
import { findPerson } from "./find-person.ts";

const ROLES: readonly { readonly role: Role; readonly name: string; readonly words: string }[] = [
  { role: "member", name: "Member", words: "agents may act for them" },
  { role: "approver", name: "Approver", words: "decides holds that rules give to approvers" },
  { role: "admin", name: "Administrator", words: "changes policies, agents, keys and people" },
];

export interface PersonDialogProps {
  /** Who is changed; nobody yet, if one is added. */
  readonly person?: PersonAnswer;
  readonly onClose: () => void;
  readonly onDone: (words: string) => void;
}

export function PersonDialog({ person, onClose, onDone }: PersonDialogProps): JSX.Element {
  const [email, setEmail] = useState(person?.email ?? "");
  const [name, setName] = useState(person?.name ?? "");
  const [roles, setRoles] = useState<readonly Role[]>(person?.roles ?? ["member"]);
  const [groups, setGroups] = useState((person?.groups ?? []).join("\n"));
  const save = async (): Promise<void> => {
    const address = email.trim();
    if (!/^[^@\s]+@[^@\s]+$/.test(address)) {
      throw refuse([{ path: "email", message: "Write the person’s e-mail address." }]);
    }
    // Saving somebody who is there would change their roles without a word.
    if (!person && (await findPerson(address))) {
      throw refuse([{ path: "email", message: "This person is there already. Change them in the list." }]);
    }
    const body: SavePersonBody = {
      roles,
      groups: splitLines(groups),
      ...(name.trim() !== "" && { name: name.trim() }),
    };
    await api.put(`/v1/people/${encodeURIComponent(address)}`, body);
    // What they may do on these pages is what their roles are now.
    if (isSelf(address)) await loadSession();
    onDone(person ? `Changed ${address}.` : `Added ${address}.`);
  };
  return (
    <FormDialog
      title={person ? "Change a person" : "Add a person"}
      submit={person ? "Save" : "Add"}
      fields={["email", "name", "roles", "groups"]}
      onClose={onClose}
      onSubmit={save}
      explain={explainPersonRefusal}
    >
      {(errorAt) => (
        <>
          {person ? (
            <p>
              <Text class="strong" value={person.email} />
            </p>
          ) : (
            <Field label="E-mail address" error={errorAt("email")}>
              {(control) => (
                <input
                  {...control}
                  {...EMAIL_INPUT}
                  class="input"
                  maxLength={254}
                  value={email}
                  data-focus
                  onInput={({ currentTarget }) => setEmail(currentTarget.value)}
                />
              )}
            </Field>
          )}
          <Field label="Name" optional error={errorAt("name")}>
            {(control) => (
              <input
                {...control}
                class="input"
                autoComplete="off"
                maxLength={100}
                value={name}
                data-focus={person !== undefined}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            )}
          </Field>
          <RolesField roles={roles} onChange={setRoles} error={errorAt("roles")} />
          <Field
            label="Groups"
            optional
            help="One on each line. Policies match them letter for letter."
            error={errorAt("groups")}
          >
            {(control) => (
              <textarea
                {...control}
                class="textarea"
                spellcheck={false}
                value={groups}
                onInput={({ currentTarget }) => setGroups(currentTarget.value)}
              />
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}

interface RolesFieldProps {
  readonly roles: readonly Role[];
  readonly onChange: (roles: readonly Role[]) => void;
  readonly error: string | undefined;
}

function RolesField({ roles, onChange, error }: RolesFieldProps): JSX.Element {
  return (
    <fieldset class="form-group">
      <legend>Roles</legend>
      {ROLES.map(({ role, name, words }) => (
        <label key={role} class="check">
          <input
            type="checkbox"
            checked={roles.includes(role)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(ROLES.map((one) => one.role).filter((one) => (one === role ? checked : roles.includes(one))))
            }
          />
          <span>
            {name} <span class="quiet">· {words}</span>
          </span>
        </label>
      ))}
      {error !== undefined && <p class="field-error">{error}</p>}
    </fieldset>
  );
}

function isSelf(email: string): boolean {
  return session.value.status === "signed-in" && session.value.person.email === email;
}
