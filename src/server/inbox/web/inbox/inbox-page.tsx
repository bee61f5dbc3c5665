import type { JSX } from "preact";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";

export function InboxPage(): JSX.Element {
  return (
    <Page title="Inbox" wide>
      <EmptyState title="This page is not there yet" />
    </Page>
  );
}
