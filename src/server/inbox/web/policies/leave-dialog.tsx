import type { JSX } from "preact";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";

export interface LeaveDialogProps {
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

export function LeaveDialog({ onStay, onLeave }: LeaveDialogProps): JSX.Element {
  return (
    <Dialog
      title="Leave without publishing?"
      onClose={onStay}
      onSubmit={onStay}
      actions={
        <>
          <Button kind="danger" onClick={onLeave}>
            Discard and leave
          </Button>
          <Button type="submit" kind="primary" data-focus>
            Stay
          </Button>
        </>
      }
    >
      <p>What you have changed in this policy is not published, and will be lost.</p>
    </Dialog>
  );
}
