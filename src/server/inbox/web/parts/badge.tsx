import type { JSX } from "preact";
import type { HoldStatus } from "../../../../core/api/holds.ts";
import type { Decision } from "../../../../core/verdict.ts";
import { Icon, type IconName } from "./icon.tsx";

/** Colours mean what the icon and the word say; nothing is said by colour alone. */
export type Tone = "good" | "waiting" | "bad" | "neutral";

export interface BadgeProps {
  readonly tone: Tone;
  readonly icon?: IconName;
  readonly children: string;
}

export function Badge({ tone, icon, children }: BadgeProps): JSX.Element {
  return (
    <span class={`badge badge-${tone}`}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

const VERDICTS: Readonly<Record<Decision["verdict"], BadgeProps>> = {
  allow: { tone: "good", icon: "allow", children: "Allowed" },
  hold: { tone: "waiting", icon: "hold", children: "Held" },
  block: { tone: "bad", icon: "block", children: "Blocked" },
};

export function VerdictBadge({ verdict }: { readonly verdict: Decision["verdict"] }): JSX.Element {
  return <Badge {...VERDICTS[verdict]} />;
}

const STATUSES: Readonly<Record<HoldStatus, BadgeProps>> = {
  pending: { tone: "waiting", icon: "hold", children: "Waiting" },
  approved: { tone: "good", icon: "allow", children: "Approved" },
  rejected: { tone: "bad", icon: "block", children: "Rejected" },
  expired: { tone: "neutral", icon: "clock", children: "Expired" },
  cancelled: { tone: "neutral", icon: "close", children: "Cancelled" },
};

export function HoldStatusBadge({ status }: { readonly status: HoldStatus }): JSX.Element {
  return <Badge {...STATUSES[status]} />;
}
