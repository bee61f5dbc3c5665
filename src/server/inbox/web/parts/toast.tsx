import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly id: number;
  readonly words: string;
  readonly tone: "good" | "bad" | "neutral";
}

const SHOWN_MS = 6000;
const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Tells the person something in passing, also those who hear the page. */
export function tell(words: string, tone: Toast["tone"] = "neutral"): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, words, tone }].slice(-3);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Where {@link tell} speaks: once in the page, there from the beginning, or nobody hears it. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, words, tone }) => (
        <div key={id} class={`toast toast-${tone}`}>
          {tone !== "neutral" && <Icon name={tone === "good" ? "allow" : "alert"} />}
          {words}
          <button type="button" class="toast-close" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
