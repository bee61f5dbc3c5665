import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { findIssue, withoutIssuesAt } from "./form-issues.ts";
import { ErrorNote } from "./states.tsx";
import "./forms.css";

export interface FormDialogProps {
  readonly title: string;
  /** What the button says that sends it. */
  readonly submit: string;
  readonly kind?: ButtonProps["kind"];
  readonly icon?: ButtonProps["icon"];
  readonly disabled?: boolean;
  readonly cancel?: string;
  readonly onClose: () => void;
  /** Sends it. What it throws is shown, at the fields that it is about or above the buttons. */
  readonly onSubmit: () => Promise<void>;
  /** Paths of the issues that have a field in the dialog. */
  readonly fields?: readonly string[];
  /** In place of the server's words, where something better can be said. */
  readonly explain?: (error: ApiError) => ComponentChildren | undefined;
  readonly children: (errorAt: (path: string) => string | undefined) => ComponentChildren;
}

/** A dialog that sends something. While it does, nothing in it can be changed; the focus goes to what was refused. */
export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, submit, kind = "primary", icon, disabled = false, cancel = "Cancel", fields = [], onClose } = props;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const form = useRef<HTMLFieldSetElement>(null);
  const errorAt = (path: string): string | undefined => error && findIssue(error.issues, path);
  const rest = error && withoutIssuesAt(error, fields);
  useEffect(() => {
    if (!error) return;
    const refused = form.current?.querySelector<HTMLElement>("[aria-invalid]");
    (refused ?? form.current?.querySelector<HTMLElement>(".form-error"))?.focus();
  }, [error]);
  const send = async (): Promise<void> => {
    if (isBusy || disabled) return;
    setBusy(true);
    setError(undefined);
    try {
      await props.onSubmit();
    } catch (refusal) {
      setError(asApiError(refusal));
    }
    setBusy(false);
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void send()}
      actions={
        <>
          <Button onClick={onClose}>{cancel}</Button>
          <Button type="submit" kind={kind} busy={isBusy} disabled={disabled} {...(icon && { icon })}>
            {submit}
          </Button>
        </>
      }
    >
      <fieldset ref={form} class="form" disabled={isBusy}>
        {props.children(errorAt)}
        {rest && (
          <div class="form-error" tabIndex={-1}>
            <Refusal error={rest} words={props.explain?.(rest)} />
          </div>
        )}
      </fieldset>
    </Dialog>
  );
}

function Refusal({ error, words }: { readonly error: ApiError; readonly words: ComponentChildren }): JSX.Element {
  if (words === undefined) return <ErrorNote error={error} />;
  return (
    <div class="note note-bad" role="alert">
      <p>{words}</p>
    </div>
  );
}
