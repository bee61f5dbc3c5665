import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PlanAnswer, RevokePlanBody } from "../../../../core/api/plans.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { tell } from "../parts/toast.tsx";
import { api, hasRole } from "../session.ts";

export interface RevokeButtonProps {
  readonly plan: PlanAnswer;
  readonly onRevoked: () => void;
}

const MAX_REASON = 2000;
/** Nothing can be called under the others any more. */
const REVOCABLE: readonly PlanAnswer["status"][] = ["open", "pending"];

/** For administrators, of a plan that is not over. Asks once more, and for the reason. */
export function RevokeButton({ plan: { planId, status }, onRevoked }: RevokeButtonProps): JSX.Element | null {
  const [isAsked, setAsked] = useState(false);
  const isThere = hasRole("admin") && REVOCABLE.includes(status);
  const wasThere = useRef(isThere);
  useEffect(() => {
    // The focus does not go with the button that had it.
    if (wasThere.current && !isThere && document.activeElement === document.body)
      document.getElementById("main")?.focus();
    wasThere.current = isThere;
  }, [isThere]);
  if (!isAsked && !isThere) return null;
  const close = (): void => setAsked(false);
  return (
    <>
      <Button kind="danger" icon="block" onClick={() => setAsked(true)}>
        Revoke
      </Button>
      {isAsked && <RevokeDialog planId={planId} onClose={close} onRevoked={onRevoked} />}
    </>
  );
}

interface RevokeDialogProps {
  readonly planId: string;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

function RevokeDialog({ planId, onClose, onRevoked }: RevokeDialogProps): JSX.Element {
  const [words, setWords] = useState("");
  const revoke = async (): Promise<void> => {
    const reason = words.trim();
    const body: RevokePlanBody = reason === "" ? {} : { reason };
    await api.post(`/v1/plans/${encodeURIComponent(planId)}/revoke`, body);
    tell("The plan is revoked: no call is allowed under it any more.", "good");
    onClose();
    onRevoked();
  };
  return (
    <FormDialog
      title="Revoke this plan?"
      submit="Revoke"
      kind="danger"
      icon="block"
      onClose={onClose}
      onSubmit={revoke}
      fields={["reason"]}
      explain={({ code }) =>
        code === "plan_closed" ? "The plan is over already: there is nothing to revoke." : undefined
      }
    >
      {(errorAt) => (
        <>
          <p>
            From here on none of its calls is allowed, and what waits under it is taken back. An agent that decides in
            its own process learns of it when it next asks the server. This cannot be undone.
          </p>
          <Field label="Reason" optional help="It is shown with the plan." error={errorAt("reason")}>
            {(control) => (
              <textarea
                {...control}
                class="textarea"
                maxLength={MAX_REASON}
                value={words}
                data-focus
                onInput={({ currentTarget }) => setWords(currentTarget.value)}
              />
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
