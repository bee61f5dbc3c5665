import type { ComponentChildren, JSX } from "preact";
import type { InboxItem } from "../../../../core/api/holds.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { describeApprovers } from "./describe-approvers.ts";

export interface HoldRecordProps {
  readonly item: InboxItem;
}

/** What the approval is bound to, and where the rest stands. */
export function HoldRecord({ item }: HoldRecordProps): JSX.Element {
  const { digest, holdId, planId, createdAt, expiresAt, approvers, fingerprint } = item;
  return (
    <dl class="facts">
      <Fact name="Digest">
        <Text class="code" value={digest} />
        <CopyButton value={digest} what="digest" />
      </Fact>
      {fingerprint !== undefined && (
        <Fact name="Tool as signed">
          <Text class="code" value={fingerprint} />
        </Fact>
      )}
      <Fact name="Asked">
        <Moment at={createdAt} />
      </Fact>
      <Fact name="Deadline">
        <Moment at={expiresAt * 1000} show="exact" />
      </Fact>
      <Fact name="May decide">
        <Text value={describeApprovers(approvers)} />
      </Fact>
      <Fact name="Hold">
        <Text class="code" value={holdId} />
        <CopyButton value={holdId} what="hold's id" />
      </Fact>
      <Fact name="Plan">
        <a href={`/plans/${planId}`}>
          <Text class="code" value={planId} />
        </a>
      </Fact>
    </dl>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
