import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { now } from "./clock.ts";
import { describeMoment, printMoment } from "./describe-time.ts";

export interface MomentProps {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Both, unless told. The exact time is there for a pointer that rests on it in any case. */
  readonly show?: "relative" | "exact" | "both";
}

export function Moment({ at, show = "both" }: MomentProps): JSX.Element {
  // Clients tell times, too: one that is none must not take the page away.
  if (Number.isNaN(new Date(at).getTime())) return <span class="moment">no such time ({String(at)})</span>;
  const exact = printMoment(at);
  return (
    <time class="moment" dateTime={new Date(at).toISOString()} title={exact}>
      {show !== "relative" && exact}
      {show === "both" && " · "}
      {show !== "exact" && <Relative at={at} />}
    </time>
  );
}

/** Drawn again only when its words change. */
function Relative({ at }: { readonly at: number }): JSX.Element {
  return <>{useComputed(() => describeMoment(at, now.value))}</>;
}
