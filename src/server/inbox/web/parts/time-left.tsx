import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { now } from "./clock.ts";
import { describeTimeLeft, printMoment } from "./describe-time.ts";
import { Icon } from "./icon.tsx";

export interface TimeLeftProps {
  /** Milliseconds since the epoch, by the server's clock. */
  readonly until: number;
}

/** A deadline that comes nearer. */
export function TimeLeft({ until }: TimeLeftProps): JSX.Element {
  const left = useComputed(() => describeTimeLeft(until - now.value));
  const words = useComputed(() => left.value.words);
  const name = useComputed(() => `time-left time-left-${left.value.urgency}`);
  return (
    <time class={name} dateTime={new Date(until).toISOString()} title={`until ${printMoment(until)}`}>
      <Icon name="clock" />
      {words}
    </time>
  );
}
