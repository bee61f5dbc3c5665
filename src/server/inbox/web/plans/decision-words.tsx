import type { JSX } from "preact";
import { useContext } from "preact/hooks";
import type { DecisionRecord } from "../../../../core/audit.ts";
import type { Json } from "../../../../core/json.ts";
import { explainReason } from "../../../../core/verdict.ts";
import { listOrigins } from "../inbox/list-origins.ts";
import { ValueOrigins } from "../inbox/value-origins.tsx";
import { Text } from "../parts/text.tsx";
import { StoryPlan } from "./story-plan.ts";

/** How a call was decided, and by what. */
export function DecisionWords({ record }: { readonly record: DecisionRecord }): JSX.Element {
  const plan = useContext(StoryPlan);
  const { verdict, reason, rule, answer, evidence } = record;
  if (answer !== undefined) {
    return (
      <>
        <Blocked reason={answer} rule={undefined} />
        <p class="quiet">{OTHERWISE[verdict]}</p>
      </>
    );
  }
  if (verdict === "block") return <Blocked reason={reason ?? ""} rule={rule} />;
  const approvedBy = verdict === "allow" ? evidence?.approval?.approvedBy : undefined;
  const open = listOrigins(record, record.args as Json | undefined).filter(({ isOpen }) => isOpen);
  return (
    <>
      <p>
        {verdict === "allow" ? "Allowed" : "Held"}
        {rule !== undefined && (
          <>
            {" "}
            by rule <Text class="code" value={rule} />
          </>
        )}
        {approvedBy !== undefined && (
          <>
            , as <Text class="strong" value={approvedBy} /> approved
          </>
        )}
      </p>
      <ValueOrigins origins={open} plan={plan} />
    </>
  );
}

const OTHERWISE: Readonly<Record<DecisionRecord["verdict"], string>> = {
  allow: "The plan and the policy allow it; it was blocked outside of them.",
  hold: "The policy holds it; it was blocked outside of it.",
  block: "The plan or the policy blocks it, too.",
};

interface BlockedProps {
  readonly reason: string;
  readonly rule: string | undefined;
}

function Blocked({ reason, rule }: BlockedProps): JSX.Element {
  return (
    <>
      <p>
        {reason === rule ? "Blocked by rule" : "Blocked:"} <Text class="code strong" value={reason} />
      </p>
      {reason !== rule && <p class="quiet">{explainReason(reason)}</p>}
    </>
  );
}
