import type { JSX } from "preact";
import type { PersonAnswer } from "../../../../core/api/people.ts";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Text } from "../parts/text.tsx";
import { api, session } from "../session.ts";
import { explainPersonRefusal } from "./explain-person-refusal.ts";

export interface RemovePersonDialogProps {
  readonly person: PersonAnswer;
  readonly onClose: () => void;
  readonly onDone: (words: string) => void;
}

export function RemovePersonDialog({ person: { email }, onClose, onDone }: RemovePersonDialogProps): JSX.Element {
  const isSelf = session.value.status === "signed-in" && session.value.person.email === email;
  const remove = async (): Promise<void> => {
    await api.delete(`/v1/people/${encodeURIComponent(email)}`);
    onDone(`Removed ${email}.`);
  };
  return (
    <FormDialog
      title="Remove this person?"
      submit="Remove"
      kind="danger"
      onClose={onClose}
      onSubmit={remove}
      explain={explainPersonRefusal}
    >
      {() => (
        <>
          <p>
            <Text class="strong" value={email} />
          </p>
          {isSelf && (
            <div class="note note-waiting">
              <Icon name="alert" />
              <p>This is you: you are signed out at once.</p>
            </div>
          )}
          <p>
            No agent acts for them from here on, and they are signed out everywhere. What was done for them and what
            they decided stays on record.
          </p>
        </>
      )}
    </FormDialog>
  );
}
