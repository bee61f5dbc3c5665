import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** The buttons, at its end. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** The actions are of a form that is the dialog's content. */
  readonly onSubmit?: () => void;
}

/**
 * A modal dialog while it is rendered. Escape closes it. The focus goes to what has `data-focus`, or else to the first
 * button or field; it stays inside, and returns to where it was.
 */
export function Dialog({ title, onClose, actions, children, onSubmit }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    shown?.querySelector<HTMLElement>("[data-focus=true]")?.focus();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    onSubmit?.();
  };
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={id} onCancel={cancel}>
      <form method="dialog" onSubmit={submit}>
        <h2 id={id} class="dialog-title">
          {title}
        </h2>
        <div class="dialog-body">{children}</div>
        {actions && <div class="dialog-actions">{actions}</div>}
      </form>
    </dialog>
  );
}

export interface NoticeDialogProps extends Pick<DialogProps, "title" | "onClose" | "children"> {
  /** What its one button says. */
  readonly close?: string;
}

/** A dialog to read, which one can only close. */
export function NoticeDialog({ title, close = "Close", onClose, children }: NoticeDialogProps): JSX.Element {
  const button = (
    <Button type="submit" kind="primary">
      {close}
    </Button>
  );
  return (
    <Dialog title={title} onClose={onClose} onSubmit={onClose} actions={button}>
      {children}
    </Dialog>
  );
}
