import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId } from "preact/hooks";
import type { DecideHoldBody, InboxItem, OpenedHoldAnswer } from "../../../../core/api/holds.ts";
import { type ApiError, asApiError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { ErrorNote } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { api } from "../session.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { Fact } from "./hold-record.tsx";

export type DecisionKind = DecideHoldBody["decision"];

export interface DecisionDialogProps {
  /** As it was when the dialog was opened: what is decided is what is shown. */
  readonly item: InboxItem;
  readonly decision: DecisionKind;
  /** Its time is up, or somebody else was quicker. */
  readonly isOver: boolean;
  readonly onClose: () => void;
  readonly onDecided: (answer: OpenedHoldAnswer) => void;
  readonly onRefused: (error: ApiError) => void;
}

const MAX_COMMENT = 2000;

/** Asks once more before a decision, with what it is about. The server's answer counts and nothing else. */
export function DecisionDialog(props: DecisionDialogProps): JSX.Element {
  const { item, decision, isOver, onClose, onDecided, onRefused } = props;
  const comment = useSignal("");
  const isBusy = useSignal(false);
  const error = useSignal<ApiError | undefined>(undefined);
  const id = useId();
  const isApproval = decision === "approve";
  useEffect(() => {
    // The button that had the focus can have it no more; a comment that is being written keeps it.
    if (isOver && !document.activeElement?.matches("textarea")) focusCancel();
  }, [isOver]);
  const decide = async (): Promise<void> => {
    if (isBusy.value || isOver) return;
    isBusy.value = true;
    error.value = undefined;
    const words = comment.value.trim();
    try {
      const body: DecideHoldBody = { decision, ...(words !== "" && { comment: words }) };
      onDecided(await api.post<OpenedHoldAnswer>(`/v1/holds/${encodeURIComponent(item.holdId)}/decision`, body));
    } catch (refused) {
      error.value = asApiError(refused);
      onRefused(error.value);
    }
    isBusy.value = false;
  };
  const what = item.kind === "plan" ? "plan" : "call";
  return (
    <Dialog
      title={isApproval ? `Approve this ${what}?` : `Reject this ${what}?`}
      onClose={onClose}
      onSubmit={() => void decide()}
      actions={
        <>
          <Button data-cancel onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            kind={isApproval ? "primary" : "danger"}
            icon={isApproval ? "check" : "close"}
            busy={isBusy.value}
            disabled={isOver}
            data-focus={isApproval}
          >
            {isApproval ? "Approve" : "Reject"}
          </Button>
        </>
      }
    >
      <Summary item={item} />
      {error.value ? <Refusal error={error.value} /> : isOver && <Over />}
      <div class="field">
        <label for={id}>
          Comment <span class="quiet">(optional; the agent reads it)</span>
        </label>
        <textarea
          id={id}
          class="textarea"
          maxLength={MAX_COMMENT}
          value={comment}
          data-focus={!isApproval}
          onInput={({ currentTarget }) => {
            comment.value = currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void decide();
          }}
        />
        {!isApproval && <p class="field-help">The same action asked again in this plan is then blocked by itself.</p>}
      </div>
    </Dialog>
  );
}

function focusCancel(): void {
  document.querySelector<HTMLElement>("dialog[open] [data-cancel]")?.focus();
}

function Summary({ item: { tool, agentName, user, digest } }: { readonly item: InboxItem }): JSX.Element {
  return (
    <dl class="facts">
      {tool !== undefined && (
        <Fact name="Tool">
          <Text class="tool" value={tool} />
        </Fact>
      )}
      <Fact name="Agent">
        <Text value={agentName} />
      </Fact>
      <Fact name="For">
        <Text value={user} />
      </Fact>
      <Fact name="Digest">
        <Text class="code" value={digest} />
      </Fact>
    </dl>
  );
}

function Over(): JSX.Element {
  return (
    <div class="note note-waiting" role="alert">
      <Icon name="clock" />
      <p>This hold does not wait any more.</p>
    </div>
  );
}

function Refusal({ error }: { readonly error: ApiError }): JSX.Element {
  const words = explainRefusal(error);
  if (words === undefined) return <ErrorNote error={error} />;
  return (
    <div class="note note-bad" role="alert">
      <Icon name="alert" />
      <p>{words}</p>
    </div>
  );
}
