import type { JSX } from "preact";
import type { KeyAnswer } from "../../../../core/api/agents.ts";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Text } from "../parts/text.tsx";
import { api } from "../session.ts";

export interface RevokeKeyDialogProps {
  readonly apiKey: KeyAnswer;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RevokeKeyDialog({ apiKey, onClose, onDone }: RevokeKeyDialogProps): JSX.Element {
  const { keyId, name, owner } = apiKey;
  const revoke = async (): Promise<void> => {
    await api.post(`/v1/keys/${encodeURIComponent(keyId)}/revoke`);
    onDone();
  };
  return (
    <FormDialog title="Revoke this key?" submit="Revoke" kind="danger" onClose={onClose} onSubmit={revoke}>
      {() => (
        <p>
          <Text class="strong" value={name ?? keyId} /> of <Text class="strong" value={owner} /> is refused from here
          on, for good. A client that decides by itself stops when its token expires.
        </p>
      )}
    </FormDialog>
  );
}
