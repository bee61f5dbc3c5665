import { type ReadonlySignal, signal } from "@preact/signals";

const wide = matchMedia("(min-width: 801px)");
const wideNow = signal(wide.matches);
wide.addEventListener("change", ({ matches }) => {
  wideNow.value = matches;
});

/** Whether two panes have place beside each other: the style sheet says the same. */
export const isWide: ReadonlySignal<boolean> = wideNow;
