import type { JSX } from "preact";
import type { InboxItem } from "../../../../core/api/holds.ts";
import { describeApprovers } from "../inbox/describe-approvers.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";

export interface HoldProps {
  readonly hold: InboxItem;
}

/** People were asked, of which no entry tells. */
export function AskedLine({ hold }: HoldProps): JSX.Element {
  return (
    <li class="line">
      <span class="line-number" />
      <Icon name="people" class="tone-waiting" />
      <div class="line-words">
        <HoldWords hold={hold} />
      </div>
      <span class="line-end quiet">
        <Moment at={hold.createdAt} show="exact" />
      </span>
    </li>
  );
}

/** Who was asked, why, and until when. */
export function HoldWords({ hold }: HoldProps): JSX.Element {
  const { kind, approvers, ruleReason, expiresAt, status, holdId } = hold;
  return (
    <>
      <p>
        {kind === "plan" ? "The plan waited for approval by " : "Asked: "}
        <Text value={describeApprovers(approvers)} />
        <span class="quiet">
          , until <Moment at={expiresAt * 1000} show="exact" />
        </span>
      </p>
      {ruleReason !== undefined && (
        <p class="quiet">
          “<Text value={ruleReason} />”
        </p>
      )}
      {status === "pending" && (
        <p>
          <a href={`/?hold=${holdId}`}>Waits for a decision</a>
        </p>
      )}
    </>
  );
}

/** What became of a hold, of which no entry tells. */
export function FateLine({ hold }: HoldProps): JSX.Element | null {
  const { status, decidedAt, decidedBy, comment, expiresAt } = hold;
  if (status === "pending") return null;
  const { words, icon, tone } = FATES[status];
  return (
    <li class="line">
      <span class="line-number" />
      <Icon name={icon} class={`tone-${tone}`} />
      <div class="line-words">
        <p>
          {words}
          {decidedBy !== undefined && (
            <>
              {" "}
              by <Text class="strong" value={decidedBy} />
            </>
          )}
        </p>
        <Comment words={comment} />
      </div>
      <span class="line-end quiet">
        <Moment at={decidedAt ?? expiresAt * 1000} show="exact" />
      </span>
    </li>
  );
}

const FATES: Readonly<
  Record<
    Exclude<InboxItem["status"], "pending">,
    { readonly words: string; readonly icon: IconName; readonly tone: string }
  >
> = {
  approved: { words: "Approved", icon: "people", tone: "good" },
  rejected: { words: "Rejected", icon: "block", tone: "bad" },
  expired: { words: "Nobody decided in time", icon: "clock", tone: "neutral" },
  cancelled: { words: "Taken back: the plan was over", icon: "close", tone: "neutral" },
};

/** What a person wrote. */
export function Comment({ words }: { readonly words: string | undefined }): JSX.Element | null {
  if (words === undefined || words === "") return null;
  return (
    <blockquote class="line-comment">
      <Text lines="break" value={words} />
    </blockquote>
  );
}
