import type { JSX } from "preact";
import type { StoryAnswer } from "../../../../core/api/history.ts";
import { Fact } from "../inbox/hold-record.tsx";
import { Badge } from "../parts/badge.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { hasRole } from "../session.ts";
import { FlagNote } from "./flag-note.tsx";
import { PlanStatusBadge } from "./plan-status.tsx";

export type StoryPlan = StoryAnswer["plan"];

/** Whose plan it is, how it stands, and why somebody should look at it. */
export function PlanHeader({ plan }: { readonly plan: StoryPlan }): JSX.Element {
  const { planId, status, agentId, agentName, user, createdAt, expiresAt, seq, reason } = plan;
  return (
    <header class="story-header">
      <div class="card story-card">
        <p class="story-who">
          <PlanStatusBadge status={status} />
          {plan.flagged !== undefined && (
            <Badge tone="bad" icon="alert">
              Flagged
            </Badge>
          )}
          <span>
            <Text class="strong" value={agentName || agentId} /> <span class="quiet">for</span>{" "}
            <Text class="strong" value={user} />
          </span>
        </p>
        <dl class="facts story-facts">
          <Fact name="Made">
            <Moment at={createdAt} />
          </Fact>
          {expiresAt !== undefined && status === "open" && (
            <Fact name="Signed until">
              <Moment at={expiresAt * 1000} />
            </Fact>
          )}
          <Fact name="Entries">{seq.toLocaleString("en")}</Fact>
          <Fact name="Plan">
            <Text class="code" value={planId} />
            <CopyButton value={planId} what="plan's id" />
          </Fact>
          {hasRole("admin") && (
            <Fact name="Policy">
              <a href={`/policies/${agentId}`}>of this agent</a>
            </Fact>
          )}
        </dl>
        {reason !== undefined && reason !== "" && (
          <p>
            <span class="quiet">{status === "revoked" ? "Revoked because: " : "Reason: "}</span>
            <Text lines="break" value={reason} />
          </p>
        )}
      </div>
      {plan.flagged !== undefined && <FlagNote flagged={plan.flagged} />}
    </header>
  );
}
