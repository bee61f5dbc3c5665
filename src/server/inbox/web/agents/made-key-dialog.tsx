import type { JSX } from "preact";
import type { CreatedKeyAnswer } from "../../../../core/api/agents.ts";
import { NoticeDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Secret } from "../parts/secret.tsx";

export interface MadeKeyDialogProps {
  readonly made: CreatedKeyAnswer;
  readonly onClose: () => void;
}

/** The one time that a key is there to be seen. */
export function MadeKeyDialog({ made: { key }, onClose }: MadeKeyDialogProps): JSX.Element {
  return (
    <NoticeDialog title="The key" close="I have stored it" onClose={onClose}>
      <div class="note note-waiting">
        <Icon name="alert" />
        <p>
          Copy it now: it is not shown again. Keep it where the agent’s process reads its secrets from, as{" "}
          <code>INTENTLOCK_API_KEY</code>, and not in its code.
        </p>
      </div>
      <Secret what="key" label="The key, shown this once" value={key} first />
      <Secret what="code" label="The code that uses it" value={writeUse(location.origin)} />
    </NoticeDialog>
  );
}

/** The two lines that give a key to a gate. */
export function writeUse(baseUrl: string): string {
  return [
    'import { HybridGate } from "intentlock/gates";',
    `const gate = new HybridGate({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: process.env["INTENTLOCK_API_KEY"] ?? "" });`,
  ].join("\n");
}
