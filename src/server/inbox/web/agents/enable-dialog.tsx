import type { JSX } from "preact";
import type { AgentAnswer } from "../../../../core/api/agents.ts";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Text } from "../parts/text.tsx";
import { api } from "../session.ts";

export interface EnableDialogProps {
  readonly agent: AgentAnswer;
  readonly onClose: () => void;
  readonly onDone: (words: string) => void;
}

/** Asks before an agent is disabled, or enabled again. */
export function EnableDialog({ agent, onClose, onDone }: EnableDialogProps): JSX.Element {
  const { agentId, name, enabled } = agent;
  const path = `/v1/agents/${encodeURIComponent(agentId)}`;
  const send = async (): Promise<void> => {
    if (enabled) await api.post(`${path}/disable`);
    else await api.patch(path, { enabled: true });
    onDone(`${enabled ? "Disabled" : "Enabled"} the agent ${name}.`);
  };
  return (
    <FormDialog
      title={enabled ? "Disable this agent?" : "Enable this agent?"}
      submit={enabled ? "Disable" : "Enable"}
      kind={enabled ? "danger" : "primary"}
      onClose={onClose}
      onSubmit={send}
    >
      {() => (
        <p>
          {enabled ? "None of the keys of " : "The keys of "}
          <Text class="strong" value={name} />
          {enabled
            ? " is accepted from here on, so it signs no plan and renews no token. A client that decides by itself stops when its token expires."
            : " that were not revoked are accepted again."}
        </p>
      )}
    </FormDialog>
  );
}
