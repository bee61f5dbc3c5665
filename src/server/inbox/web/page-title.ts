import { effect, type Signal, signal } from "@preact/signals";

/** What the page in front is called. */
export const pageTitle: Signal<string> = signal("");

export interface Waiting {
  readonly count: number;
  /** And others that were not loaded. */
  readonly more: boolean;
}

/** How many holds wait for this person; undefined while nobody knows. */
export const waiting: Signal<Waiting | undefined> = signal(undefined);

const isHidden = signal(document.hidden);
document.addEventListener("visibilitychange", () => {
  isHidden.value = document.hidden;
});

effect(() => {
  const name = pageTitle.value === "" ? "Intentlock" : `${pageTitle.value} · Intentlock`;
  const count = waiting.value && printWaiting(waiting.value);
  document.title = isHidden.value && count ? `(${count}) ${name}` : name;
});

/** `3`, `50+`, or nothing if none waits. */
export function printWaiting({ count, more }: Waiting): string {
  if (count === 0) return "";
  return more ? `${count}+` : String(count);
}
