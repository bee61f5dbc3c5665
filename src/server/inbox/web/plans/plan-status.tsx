import type { JSX } from "preact";
import type { PlanStatus } from "../../../../core/api/plans.ts";
import { Badge, type BadgeProps } from "../parts/badge.tsx";

const STATUSES: Readonly<Record<PlanStatus, BadgeProps>> = {
  pending: { tone: "waiting", icon: "hold", children: "Waits for approval" },
  open: { tone: "good", icon: "allow", children: "Open" },
  closed: { tone: "neutral", icon: "check", children: "Closed" },
  revoked: { tone: "bad", icon: "block", children: "Revoked" },
  expired: { tone: "neutral", icon: "clock", children: "Expired" },
  rejected: { tone: "bad", icon: "block", children: "Rejected" },
};

export function PlanStatusBadge({ status }: { readonly status: PlanStatus }): JSX.Element {
  return <Badge {...STATUSES[status]} />;
}
