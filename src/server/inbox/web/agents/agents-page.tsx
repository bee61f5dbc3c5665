import type { JSX } from "preact";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";

export function AgentsPage(): JSX.Element {
  return (
    <Page title="Agents">
      <EmptyState title="This page is not there yet" />
    </Page>
  );
}
