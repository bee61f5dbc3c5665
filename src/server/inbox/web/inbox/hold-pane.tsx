import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { HoldStatus, InboxItem } from "../../../../core/api/holds.ts";
import type { ApiError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { now } from "../parts/clock.ts";
import { Icon } from "../parts/icon.tsx";
import { EmptyState, ErrorNote, ErrorState, Loading } from "../parts/states.tsx";
import { TimeLeft } from "../parts/time-left.tsx";
import { tell } from "../parts/toast.tsx";
import { DecisionDialog, type DecisionKind } from "./decision-dialog.tsx";
import { isOutdated } from "./explain-refusal.ts";
import { HoldDetail } from "./hold-detail.tsx";
import { HoldFate } from "./hold-fate.tsx";
import type { PendingHolds } from "./pending-holds.ts";
import { useShortcuts } from "./shortcuts.ts";
import { useHold } from "./use-hold.ts";

export interface HoldPaneProps {
  readonly pending: PendingHolds;
  readonly holdId: string;
  /** This person has decided. */
  readonly onDecided: (status: HoldStatus) => void;
}

/** One hold, to read and to decide. */
export function HoldPane({ pending, holdId, onDecided }: HoldPaneProps): JSX.Element {
  const { item, error, reload } = useHold(pending, holdId);
  return (
    <article class="hold-pane" aria-label="The hold">
      <a class="hold-back" href="/">
        <Icon name="back" />
        Inbox
      </a>
      {item ? (
        <LoadedHold {...{ pending, item, error, reload, onDecided }} />
      ) : error ? (
        <NoHold error={error} onRetry={reload} />
      ) : (
        <Loading what="the hold" />
      )}
    </article>
  );
}

interface LoadedHoldProps extends Pick<HoldPaneProps, "pending" | "onDecided"> {
  readonly item: InboxItem;
  readonly error: ApiError | undefined;
  readonly reload: () => void;
}

function LoadedHold({ pending, item, error, reload, onDecided }: LoadedHoldProps): JSX.Element {
  const [asked, setAsked] = useState<{ readonly decision: DecisionKind; readonly item: InboxItem }>();
  const body = useRef<HTMLDivElement>(null);
  const isTimeUp = useComputed(() => now.value >= item.expiresAt * 1000);
  const isOver = item.status !== "pending" || isTimeUp.value;
  const ask = (decision: DecisionKind): void => {
    if (!isOver) setAsked({ decision, item });
  };
  useShortcuts((shortcut) => (shortcut === "approve" || shortcut === "reject") && ask(shortcut));
  useEffect(() => {
    // One comes here from a list that has gone, or from a dialog about another hold.
    if (document.activeElement === document.body) body.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <div class="hold-body" ref={body} tabIndex={-1}>
        <HoldFate item={item} isOver={isOver} />
        {error && <ErrorNote error={error} />}
        <HoldDetail item={item} />
      </div>
      {!isOver && <DecisionBar item={item} ask={ask} />}
      {asked && (
        <DecisionDialog
          {...asked}
          isOver={isOver}
          onClose={() => setAsked(undefined)}
          onRefused={(refused) => isOutdated(refused) && reload()}
          onDecided={({ status }) => {
            setAsked(undefined);
            tell(describeDecision(asked.item, status), "good");
            pending.receive({ holdId: asked.item.holdId, status });
            onDecided(status);
          }}
        />
      )}
    </>
  );
}

function describeDecision({ tool, user }: InboxItem, status: HoldStatus): string {
  return `${status === "approved" ? "Approved" : "Rejected"}: ${tool ?? "the plan"}, for ${user}.`;
}

interface DecisionBarProps {
  readonly item: InboxItem;
  readonly ask: (decision: DecisionKind) => void;
}

function DecisionBar({ item, ask }: DecisionBarProps): JSX.Element {
  return (
    <footer class="decision-bar">
      <span class="decision-left">
        <TimeLeft until={item.expiresAt * 1000} />
        <span class="quiet"> to decide</span>
      </span>
      <Button kind="danger" icon="close" shortcut="r" onClick={() => ask("reject")}>
        Reject
      </Button>
      <Button kind="primary" icon="check" shortcut="a" onClick={() => ask("approve")}>
        Approve
      </Button>
    </footer>
  );
}

function NoHold({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }): JSX.Element {
  if (error.code !== "not_found" && error.code !== "invalid_request") {
    return <ErrorState error={error} onRetry={onRetry} />;
  }
  return (
    <EmptyState icon="help" title="This hold is not here for you">
      <p class="quiet">There is none of this id, or the rule names others than you to decide it.</p>
      <p>
        <a href="/">See what waits for you</a>
      </p>
    </EmptyState>
  );
}
