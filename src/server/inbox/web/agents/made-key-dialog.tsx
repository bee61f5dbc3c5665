import type { JSX } from "preact";
import type { CreatedKeyAnswer } from "../../../../core/api/agents.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Secret } from "../parts/secret.tsx";

export interface MadeKeyDialogProps {
  readonly made: CreatedKeyAnswer;
  readonly onClose: () => void;
}

/** The one time that a key is there to be seen. */
export function MadeKeyDialog({ made: { key }, onClose }: MadeKeyDialogProps): JSX.Element {
  return (
    <Dialog
      title="The key"
      onClose={onClose}
      onSubmit={onClose}
      actions={
        <Button type="submit" kind="primary">
          I have stored it
        </Button>
      }
    >
      <div class="note note-waiting">
        <Icon name="alert" />
        <p>
          Copy it now: it is not shown again. Keep it where the agent’s process reads its secrets from, as{" "}
          <code>INTENTLOCK_API_KEY</code>, and not in its code.
        </p>
      </div>
      <Secret what="key" label="The key, shown this once" value={key} first />
      <Secret what="code" label="The code that uses it" value={writeUse(location.origin)} />
    </Dialog>
  );
}

/** The two lines that give a key to a gate. */
export function writeUse(baseUrl: string): string {
  return [
    'import { HybridGate } from "intentlock/gates";',
    `const gate = new HybridGate({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: process.env["INTENTLOCK_API_KEY"] ?? "" });`,
  ].join("\n");
}
