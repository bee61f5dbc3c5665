import type { ComponentChildren, JSX } from "preact";
import { useLocation } from "preact-iso";
import type { SessionAnswer } from "../../../core/api/session.ts";
import { asApiError } from "./api.ts";
import { InboxProvider } from "./inbox/inbox-context.tsx";
import { printWaiting, waiting } from "./page-title.ts";
import { Button } from "./parts/button.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { Text } from "./parts/text.tsx";
import { tell } from "./parts/toast.tsx";
import { signOut } from "./session.ts";

interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** For administrators only. */
  readonly admin?: true;
}

const PLACES: readonly Place[] = [
  { path: "/", name: "Inbox", icon: "inbox" },
  { path: "/decisions", name: "Decisions", icon: "list" },
  { path: "/overview", name: "Overview", icon: "chart", admin: true },
  { path: "/policies", name: "Policies", icon: "policy", admin: true },
  { path: "/agents", name: "Agents", icon: "agent", admin: true },
  { path: "/people", name: "People", icon: "people", admin: true },
];

export interface ShellProps {
  readonly person: SessionAnswer;
  readonly children: ComponentChildren;
}

/** What stands around every page of who is signed in. */
export function Shell({ person, children }: ShellProps): JSX.Element {
  const places = PLACES.filter(({ admin }) => !admin || person.roles.includes("admin"));
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="shell-header">
        <a class="brand" href="/">
          <Brand />
          Intentlock
        </a>
        <nav class="places" aria-label="Pages">
          {places.map((place) => (
            <PlaceLink key={place.path} place={place} />
          ))}
        </nav>
        <div class="account">
          <Text class="account-email" value={person.email} />
          <Button kind="quiet" icon="leave" class="account-leave" onClick={leave}>
            Sign out
          </Button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <InboxProvider email={person.email}>{children}</InboxProvider>
      </main>
    </div>
  );
}

function PlaceLink({ place: { path, name, icon } }: { readonly place: Place }): JSX.Element {
  const { path: current } = useLocation();
  const isHere = current === path || (path !== "/" && current.startsWith(`${path}/`));
  const count = path === "/" && waiting.value ? printWaiting(waiting.value) : "";
  return (
    <a href={path} class="place" {...(isHere && { "aria-current": "page" as const })}>
      <Icon name={icon} />
      <span class="place-name">{name}</span>
      {count !== "" && (
        <span class="count">
          {count}
          <span class="sr-only"> waiting</span>
        </span>
      )}
    </a>
  );
}

async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    tell(`You are still signed in. ${asApiError(error).message}.`, "bad");
  }
}

export function Brand(): JSX.Element {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="brand-ground" />
      <path d="M10.5 15v-3.5a5.5 5.5 0 0 1 11 0V15" class="brand-bow" />
      <rect x="7.5" y="14" width="17" height="12" rx="3" class="brand-body" />
      <path d="m12.4 20 2.5 2.5 4.7-4.8" class="brand-check" />
    </svg>
  );
}
