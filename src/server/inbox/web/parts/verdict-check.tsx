import type { JSX } from "preact";
import type { VerdictCheckAnswer } from "../../../../core/api/history.ts";
import { Badge } from "./badge.tsx";
import { Icon } from "./icon.tsx";
import "./verdict-check.css";

export interface VerdictCheckProps {
  /** Absent: the server itself decided. */
  readonly check: VerdictCheckAnswer | undefined;
}

/** What the server says of a decision that a client has made. Quiet unless it is another than the server's. */
export function VerdictCheck({ check }: VerdictCheckProps): JSX.Element {
  switch (check) {
    case "differs":
      return (
        <span class="verdict-check" title="The server decided this call again and came to another answer">
          <Badge tone="bad" icon="alert">
            Differs
          </Badge>
        </span>
      );
    case "recomputed":
      return (
        <span class="verdict-check quiet" title="The server decided this call again: the same">
          <Icon name="check" />
          Confirmed
        </span>
      );
    case "not_recomputable":
      return (
        <span
          class="verdict-check quiet"
          title="The arguments are not on record, or the token is not: nothing to compare"
        >
          Not checkable
        </span>
      );
    case undefined:
      return (
        <span class="verdict-check quiet" title="The server decided this call itself">
          By the server
        </span>
      );
    default:
      return check satisfies never;
  }
}
