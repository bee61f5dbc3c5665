import type { JSX } from "preact";
import { useContext } from "preact/hooks";
import type { StoryEntry } from "../../../../core/api/history.ts";
import type { DecisionRecord } from "../../../../core/audit.ts";
import type { Json } from "../../../../core/json.ts";
import { Fact } from "../inbox/hold-record.tsx";
import { listOrigins } from "../inbox/list-origins.ts";
import { ValueOrigins } from "../inbox/value-origins.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { StoryPlan } from "./story-plan.ts";

export interface DecisionFactsProps {
  readonly entry: StoryEntry;
  readonly isOneOfSome: boolean;
}

/** What a decision rested on, beside the arguments. */
export function DecisionFacts({ entry: { seq, at, receivedAt, event }, isOneOfSome }: DecisionFactsProps): JSX.Element {
  const record = event as DecisionRecord;
  const { callId, digest, fingerprint, jti, evidence, args } = record;
  return (
    <div class="decision-facts">
      {isOneOfSome && <h4>Entry {seq}</h4>}
      <dl class="facts">
        {digest !== undefined && (
          <Fact name="Digest">
            <Text class="code" value={digest} />
            <CopyButton value={digest} what="digest" />
          </Fact>
        )}
        <Fact name="Call">
          <Text class="code" value={callId} />
        </Fact>
        {fingerprint !== undefined && (
          <Fact name="Tool's fingerprint">
            <Text class="code" value={fingerprint} />
          </Fact>
        )}
        <Fact name="Token">{jti === "" ? "none that was valid" : <Text class="code" value={jti} />}</Fact>
        <Fact name="Decided">
          <Moment at={at} show="exact" />
        </Fact>
        <Fact name="Received">
          <Moment at={receivedAt} show="exact" />
        </Fact>
      </dl>
      <ValueOrigins origins={listOrigins(record, args as Json | undefined)} plan={useContext(StoryPlan)} />
      {evidence !== undefined && <JsonView label={`Evidence of entry ${seq}`} value={evidence as unknown as Json} />}
    </div>
  );
}
