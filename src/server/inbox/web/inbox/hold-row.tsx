import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { JSX } from "preact";
import type { InboxItem } from "../../../../core/api/holds.ts";
import { HoldStatusBadge } from "../parts/badge.tsx";
import { cutText } from "../parts/cut-text.ts";
import { Text } from "../parts/text.tsx";
import { TimeLeft } from "../parts/time-left.tsx";

export interface HoldRowProps {
  readonly hold: InboxItem;
  /** The id of the one in front. */
  readonly selected: ReadonlySignal<string | undefined>;
}

/** As much of the task as a row has place for. */
const EXCERPT = 160;

export function HoldRow({ hold, selected }: HoldRowProps): JSX.Element {
  const { holdId, tool, agentName, user, task, status, expiresAt } = hold;
  // As a signal, so that going from one row to another draws these two and not a thousand.
  const current = useComputed(() => (selected.value === holdId ? "true" : undefined));
  return (
    <li class="hold-row-place">
      <a class="hold-row" id={rowId(holdId)} href={`/?hold=${holdId}`} aria-current={current}>
        <span class="hold-row-first">
          {tool === undefined ? <span class="hold-row-plan">Whole plan</span> : <Text class="tool" value={tool} />}
          {status === "pending" ? <TimeLeft until={expiresAt * 1000} /> : <HoldStatusBadge status={status} />}
        </span>
        <span class="hold-row-who">
          <Text value={user} /> · <Text value={agentName} />
        </span>
        <span class="hold-row-task">
          <Text value={cutText(task.instruction, 0, EXCERPT)} />
        </span>
      </a>
    </li>
  );
}

export function rowId(holdId: string): string {
  return `hold-${holdId}`;
}
