import type { JSX } from "preact";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";

export function DecisionsPage(): JSX.Element {
  return (
    <Page title="Decisions">
      <EmptyState title="This page is not there yet" />
    </Page>
  );
}
