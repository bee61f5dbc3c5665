import type { JSX } from "preact";
import type { InboxItem } from "../../../../core/api/holds.ts";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";

export interface HoldFateProps {
  readonly item: InboxItem;
  /** Its time is up, whether the server has ended it yet or not. */
  readonly isOver: boolean;
}

/** What became of a hold that nobody can decide any more, and who did it. */
export function HoldFate({ item, isOver }: HoldFateProps): JSX.Element | null {
  const { status, decidedBy, decidedAt, comment } = item;
  if (status === "pending" && !isOver) return null;
  const tone = status === "approved" ? "good" : status === "rejected" ? "bad" : "waiting";
  return (
    <div class={`note note-${tone}`} role="status">
      <Icon name={status === "approved" ? "allow" : status === "rejected" ? "block" : "clock"} />
      <div>
        <strong>{WORDS[status]}</strong>
        {decidedBy !== undefined && (
          <>
            {" "}
            by <Text value={decidedBy} />
          </>
        )}
        {decidedAt !== undefined && (
          <>
            , <Moment at={decidedAt} show="relative" />
          </>
        )}
        {comment !== undefined && comment !== "" && (
          <blockquote class="hold-comment">
            <Text lines="break" value={comment} />
          </blockquote>
        )}
      </div>
    </div>
  );
}

const WORDS: Readonly<Record<InboxItem["status"], string>> = {
  pending: "Time is up. Nobody decided, so nothing runs",
  approved: "Approved",
  rejected: "Rejected",
  expired: "Time is up. Nobody decided, so nothing runs",
  cancelled: "Taken back: the plan is over",
};
