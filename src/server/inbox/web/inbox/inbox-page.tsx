import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { PageParameters } from "../pages.tsx";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";
import { isWide } from "../parts/window.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { HoldList } from "./hold-list.tsx";
import { HoldPane } from "./hold-pane.tsx";
import { rowId } from "./hold-row.tsx";
import { findNeighbour, findSuccessor } from "./order-holds.ts";
import "./inbox.css";
import { useInbox } from "./inbox-context.tsx";
import { type Shortcut, useShortcuts } from "./shortcuts.ts";
import { useTurns } from "./use-turns.ts";

/** What waits for a person: a list, and the one that they look at. */
export function InboxPage({ query }: PageParameters): JSX.Element {
  const { pending, isLive } = useInbox();
  const { route } = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const selected = query["hold"] || undefined;
  const show = (holdId: string | undefined): void => {
    if (holdId !== undefined) route(`/?hold=${encodeURIComponent(holdId)}`, isWide.value || selected !== undefined);
  };
  const first = pending.holds.value.find(({ status }) => status === "pending")?.holdId;
  const toFocus = useRef<string | undefined>(undefined);
  useEffect(() => {
    // Before the row that has the focus may leave, and after a dialog has let go of it.
    if (toFocus.current !== undefined) focusRow(toFocus.current);
    toFocus.current = undefined;
    pending.lookAt(selected);
  }, [pending, selected]);
  useEffect(() => () => pending.lookAt(undefined), [pending]);
  useTurns(selected);
  useEffect(() => {
    // In the address, so that what is in front stays there when an earlier deadline comes in.
    if (selected === undefined && isWide.value) show(first);
  }, [selected, first, isWide.value]);
  // The same element each time, which is not drawn again.
  const list = useMemo(() => <HoldList pending={pending} />, [pending]);
  const act: Readonly<Partial<Record<Shortcut, () => void>>> = {
    next: () => move(1),
    previous: () => move(-1),
    help: () => setHelpOpen(true),
    back: () => {
      if (selected !== undefined && !isWide.value) route("/");
    },
  };
  const move = (places: number): void => {
    const id = findNeighbour(pending.holds.value, selected, places);
    if (id === undefined) return;
    show(id);
    focusRow(id);
  };
  useShortcuts((shortcut) => act[shortcut]?.());
  const goOn = (decided: string): void => {
    toFocus.current = findSuccessor(pending.holds.value, decided);
    if (isWide.value) show(toFocus.current);
    else route("/", true);
  };
  return (
    <Page
      title="Inbox"
      class={`inbox ${selected === undefined ? "inbox-list" : "inbox-hold"}`}
      actions={<Actions isLive={isLive.value} onHelp={() => setHelpOpen(true)} />}
    >
      <div class="inbox-side">{list}</div>
      <div class="inbox-main">
        {selected === undefined ? (
          <NoneSelected isEmpty={pending.holds.value.length === 0} />
        ) : (
          <HoldPane key={selected} pending={pending} holdId={selected} onDecided={() => goOn(selected)} />
        )}
      </div>
      <p class="sr-only" role="status">
        {pending.arrival.value}
      </p>
      {isHelpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
    </Page>
  );
}

function focusRow(holdId: string): void {
  document.getElementById(rowId(holdId))?.focus();
}

interface ActionsProps {
  readonly isLive: boolean;
  readonly onHelp: () => void;
}

function Actions({ isLive, onHelp }: ActionsProps): JSX.Element {
  return (
    <>
      <span class={`live ${isLive ? "" : "live-broken"}`} role="status">
        {isLive ? "Live" : "Connecting again…"}
      </span>
      <Button kind="quiet" icon="help" class="inbox-help" onClick={onHelp}>
        Keys
      </Button>
    </>
  );
}

function NoneSelected({ isEmpty }: { readonly isEmpty: boolean }): JSX.Element | null {
  return isEmpty ? null : <EmptyState icon="hold" title="Choose a hold to see what it is about" />;
}
