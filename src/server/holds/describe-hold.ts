import type { HoldAnswer, OpenedHoldAnswer } from "../../core/api/index.ts";
import type { Hold } from "../store/index.ts";

/** A hold's state by the server's clock: one that ran out of time is expired, whether or not that was written yet. */
export function describeStatus(hold: Hold, now: number): OpenedHoldAnswer {
  const isLate = hold.status === "pending" && now >= hold.expiresAt;
  return {
    holdId: hold.id,
    status: isLate ? "expired" : hold.status,
    expiresAt: Math.floor(hold.expiresAt / 1000),
  };
}

/** A hold as the agent that waits sees it. */
export function describeHold(hold: Hold, now: number): HoldAnswer {
  const { holdId, status, expiresAt } = describeStatus(hold, now);
  const comment = hold.comment === null ? {} : { comment: hold.comment };
  switch (status) {
    case "approved": {
      const approval = hold.approval === null ? {} : { approval: hold.approval };
      return { holdId, status, expiresAt, approvedBy: hold.decidedBy ?? "", ...approval, ...comment };
    }
    case "rejected":
      return { holdId, status, expiresAt, ...comment };
    default:
      return { holdId, status, expiresAt };
  }
}
