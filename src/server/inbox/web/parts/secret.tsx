import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";

export interface SecretProps {
  /** What it is: `key`. */
  readonly what: string;
  readonly label: string;
  readonly value: string;
  /** The one that the dialog is about: its button has the focus. */
  readonly first?: boolean;
}

/** Something to be taken along now. In a dialog: the page's own messages are behind it, so what was copied is said here. */
export function Secret({ what, label, value, first = false }: SecretProps): JSX.Element {
  const [words, setWords] = useState("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setWords("Copied.");
    } catch {
      setWords("The browser did not let the page copy it. Select it and copy it by hand.");
    }
  };
  return (
    <div class="secret">
      <div class="secret-head">
        <h3>{label}</h3>
        <Button icon="copy" aria-label={`Copy the ${what}`} data-focus={first} onClick={() => void copy()}>
          Copy
        </Button>
      </div>
      <pre class="secret-value">{value}</pre>
      <p class="field-help" role="status">
        {words}
      </p>
    </div>
  );
}
