import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { Text } from "./text.tsx";

/** What ties a control to its field. */
export interface ControlAttributes {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
}

export interface FieldProps {
  readonly label: string;
  readonly optional?: boolean;
  readonly help?: ComponentChildren;
  /** What is wrong with what it has. */
  readonly error?: string | undefined;
  readonly children: (control: ControlAttributes) => JSX.Element;
}

/** What an input of an e-mail address has: as text, since a browser's own check would refuse before the server says why. */
export const EMAIL_INPUT = {
  type: "text",
  inputMode: "email",
  autoComplete: "off",
  autoCapitalize: "none",
  spellcheck: false,
} as const;

/** A control of a form, with its label, what to know about it, and what is wrong with it. */
export function Field({ label, optional = false, help, error, children }: FieldProps): JSX.Element {
  const id = useId();
  const described = [help !== undefined && `${id}-help`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(" ");
  return (
    <div class="field">
      <label for={id}>
        {label} {optional && <span class="quiet">(optional)</span>}
      </label>
      {children({
        id,
        ...(described !== "" && { "aria-describedby": described }),
        ...(error !== undefined && { "aria-invalid": true }),
      })}
      {help !== undefined && (
        <p id={`${id}-help`} class="field-help">
          {help}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} class="field-error">
          <Text value={error} />
        </p>
      )}
    </div>
  );
}
