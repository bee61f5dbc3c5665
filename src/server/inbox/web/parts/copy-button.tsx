import type { JSX } from "preact";
import { Icon } from "./icon.tsx";
import { tell } from "./toast.tsx";

export interface CopyButtonProps {
  readonly value: string;
  /** What is copied. */
  readonly what: string;
}

export function CopyButton({ value, what }: CopyButtonProps): JSX.Element {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      tell(`Copied the ${what}.`);
    } catch {
      tell(`The browser did not let the page copy the ${what}.`, "bad");
    }
  };
  return (
    <button type="button" class="copy" aria-label={`Copy the ${what}`} title={`Copy the ${what}`} onClick={copy}>
      <Icon name="copy" />
    </button>
  );
}
