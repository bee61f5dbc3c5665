import type { JSX } from "preact";

/** Outlines in a box of 16 by 16. */
const PATHS = {
  agent:
    "M5 6.5h6a2 2 0 0 1 2 2v3a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-3a2 2 0 0 1 2-2ZM8 6.5v-3M8 2.6v.2M6 10h.01M10 10h.01",
  alert: "M8 2.3 14.4 13.4H1.6ZM8 6.5v3.2M8 11.6v.1",
  back: "M9.8 3.5 5.3 8l4.5 4.5",
  block: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
  chart: "M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6",
  check: "m3.2 8.4 3.2 3.2 6.4-7",
  allow: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM5.4 8.2l1.9 1.9 3.4-3.8",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 4.8V8l2.2 1.6",
  close: "m3.8 3.8 8.4 8.4M12.2 3.8l-8.4 8.4",
  copy: "M5.5 5.5V3.3c0-.5.4-.8.8-.8h6.4c.4 0 .8.3.8.8v6.4c0 .4-.4.8-.8.8h-2.2M3.3 5.5h6.4c.5 0 .8.4.8.8v6.4c0 .5-.3.8-.8.8H3.3a.8.8 0 0 1-.8-.8V6.3c0-.4.4-.8.8-.8Z",
  download: "M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11",
  help: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM6.3 6.3a1.8 1.8 0 1 1 2.4 1.9c-.5.2-.7.5-.7 1M8 11.1v.1",
  hold: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM6.4 5.8v4.4M9.6 5.8v4.4",
  inbox: "M2.5 9.2 4.4 3.4h7.2l1.9 5.8v3.4h-11ZM2.5 9.2h3.3c.2 1.2 1 1.9 2.2 1.9s2-.7 2.2-1.9h3.3",
  key: "M10 2.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8ZM7.5 8.5l-5 5M4.2 11.8l1.6 1.6",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  people:
    "M6 7.6a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8ZM1.8 13.2c.3-2.4 1.9-3.7 4.2-3.7s3.9 1.3 4.2 3.7M10.6 3.1a2.3 2.3 0 0 1 0 4.2M12 9.9c1.3.5 2 1.6 2.2 3.3",
  plus: "M8 3v10M3 8h10",
  policy: "M8 1.9 13 3.7v4c0 3-2 5.2-5 6.4-3-1.2-5-3.4-5-6.4v-4ZM5.8 8l1.6 1.6 2.9-3.2",
  refresh: "M13 4v3.2H9.8M12.7 7A5 5 0 1 0 13 8.7",
  leave: "M6.5 2.5h-3v11h3M9.5 5 12.6 8l-3.1 3M12.4 8H6.2",
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside words that say the same. */
export function Icon({
  name,
  class: className = "",
}: {
  readonly name: IconName;
  readonly class?: string;
}): JSX.Element {
  return (
    <svg class={`icon ${className}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
