import type { ComponentChildren, JSX } from "preact";
import type { StoryEntry, StoryEvent } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";
import type { OutcomeStatus } from "../../../../core/audit.ts";
import type { Tone } from "../parts/badge.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { VerdictCheck } from "../parts/verdict-check.tsx";
import { DecisionWords } from "./decision-words.tsx";
import { Comment, HoldWords } from "./hold-line.tsx";
import { printMilliseconds } from "./print-milliseconds.ts";
import { answerOf } from "./tell-chapter.ts";
import { entryId } from "./use-wanted.ts";

export interface EntryLineProps {
  readonly entry: StoryEntry;
  /** Of what was asked or approved, if it is known. */
  readonly hold?: InboxItem | undefined;
  /** Given if the decision that it is about is not above it: the first entry that is loaded. */
  readonly aloneAfter?: number;
}

/** An entry of the record, in words. */
export function EntryLine({ entry, hold, aloneAfter }: EntryLineProps): JSX.Element {
  const { seq, at, event, verdictCheck } = entry;
  return (
    <li id={entryId(seq)} class="line" tabIndex={-1}>
      <a class="line-number" href={`#${entryId(seq)}`} aria-label={`Entry ${seq}`}>
        {seq}
      </a>
      <Icon {...iconOf(event)} />
      <div class="line-words">
        <Words event={event} hold={hold} />
        {aloneAfter !== undefined && "decisionSeq" in event && (
          <p class="quiet">
            Of entry {event.decisionSeq},{" "}
            {event.decisionSeq < aloneAfter ? "which is not loaded." : "which is no decision that is on record here."}
          </p>
        )}
      </div>
      <span class="line-end quiet">
        {verdictCheck !== undefined && <VerdictCheck check={verdictCheck} />}
        <Moment at={at} show="exact" />
      </span>
    </li>
  );
}

function Words({
  event,
  hold,
}: {
  readonly event: StoryEvent;
  readonly hold: InboxItem | undefined;
}): ComponentChildren {
  switch (event.type) {
    case "plan_signed":
      return <Signed words="The plan was signed" expiresAt={event.expiresAt} />;
    case "refresh":
      return (
        <Signed words="Signed again, with the person and the policy as they were then" expiresAt={event.expiresAt} />
      );
    case "decision":
      return <DecisionWords record={event} />;
    case "hold":
      return hold ? <HoldWords hold={hold} /> : <p>People were asked</p>;
    case "approval":
      return (
        <>
          <p>
            Approved by <Text class="strong" value={event.approvedBy} />
          </p>
          <Comment words={hold?.comment} />
        </>
      );
    case "outcome":
      return (
        <p>
          {OUTCOMES[event.status].words}
          {event.durationMs !== undefined && `, after ${printMilliseconds(event.durationMs)}`}
        </p>
      );
    case "closed":
      return <p>The plan was closed: nothing more was to be done</p>;
    default:
      return event satisfies never;
  }
}

function Signed({ words, expiresAt }: { readonly words: string; readonly expiresAt: number }): JSX.Element {
  return (
    <p>
      {words}
      {expiresAt > 0 ? (
        <span class="quiet">
          , until <Moment at={expiresAt * 1000} show="exact" />
        </span>
      ) : (
        <span class="quiet">, with a text that is no token of this server</span>
      )}
    </p>
  );
}

interface LineIcon {
  readonly name: IconName;
  readonly class?: string;
}

const OUTCOMES: Readonly<
  Record<OutcomeStatus, { readonly words: string; readonly icon: IconName; readonly tone: Tone }>
> = {
  ok: { words: "The tool ran", icon: "check", tone: "good" },
  failed: { words: "The tool ran and failed", icon: "alert", tone: "waiting" },
  aborted: { words: "The tool never started; the call was given back", icon: "close", tone: "neutral" },
  unknown: { words: "The tool started, and nobody saw it end", icon: "help", tone: "waiting" },
};

const DECISIONS = { allow: ["allow", "good"], hold: ["hold", "waiting"], block: ["block", "bad"] } as const;

function iconOf(event: StoryEvent): LineIcon {
  switch (event.type) {
    case "plan_signed":
      return { name: "key" };
    case "refresh":
      return { name: "refresh" };
    case "decision": {
      const [name, tone] = DECISIONS[answerOf(event).verdict];
      return { name, class: `tone-${tone}` };
    }
    case "hold":
      return { name: "people", class: "tone-waiting" };
    case "approval":
      return { name: "people", class: "tone-good" };
    case "outcome": {
      const { icon, tone } = OUTCOMES[event.status];
      return { name: icon, class: `tone-${tone}` };
    }
    case "closed":
      return { name: "check" };
    default:
      return event satisfies never;
  }
}
