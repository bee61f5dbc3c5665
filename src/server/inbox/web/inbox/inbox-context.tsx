import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { type ComponentChildren, createContext, type JSX } from "preact";
import { useContext, useEffect, useMemo } from "preact/hooks";
import { waiting } from "../page-title.ts";
import { api, loadSession } from "../session.ts";
import { watchHolds } from "./live-holds.ts";
import { PendingHolds } from "./pending-holds.ts";

export interface Inbox {
  readonly pending: PendingHolds;
  readonly isLive: ReadonlySignal<boolean>;
}

const Context = createContext<Inbox | undefined>(undefined);

export interface InboxProviderProps {
  readonly email: string;
  readonly children: ComponentChildren;
}

/** What waits for who is signed in, for as long as they are, whatever page is in front. */
export function InboxProvider({ email, children }: InboxProviderProps): JSX.Element {
  const { inbox, isLive } = useMemo(() => {
    const isLive = signal(true);
    return { inbox: { pending: new PendingHolds(api), isLive }, isLive };
  }, [email]);
  const { pending } = inbox;
  useEffect(() => {
    const live = watchHolds({
      email,
      onNews: (news) => pending.receive(news),
      onRefused: () => void loadSession(),
    });
    const stops = [
      effect(() => {
        isLive.value = live.isLive.value;
      }),
      effect(() => {
        waiting.value = { count: pending.waiting.value, more: pending.hasMore.value };
      }),
    ];
    void pending.load();
    return () => {
      live.close();
      for (const stop of stops) stop();
      waiting.value = undefined;
    };
  }, [inbox]);
  return <Context.Provider value={inbox}>{children}</Context.Provider>;
}

export function useInbox(): Inbox {
  const inbox = useContext(Context);
  if (!inbox) throw new Error("There is no InboxProvider around this");
  return inbox;
}
