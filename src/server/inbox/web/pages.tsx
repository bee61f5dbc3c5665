import { Component, type ComponentChildren, type FunctionComponent, type JSX } from "preact";
import { lazy, Route, Router } from "preact-iso";
import { ApiError, asApiError } from "./api.ts";
import { InboxPage } from "./inbox/inbox-page.tsx";
import { Page } from "./parts/page.tsx";
import { EmptyState, ErrorState } from "./parts/states.tsx";
import { hasRole } from "./session.ts";

/** Each page but the first is loaded when somebody goes there. */
const DecisionsPage = page(() => import("./decisions/decisions-page.tsx").then((m) => m.DecisionsPage));
const PlanPage = page(() => import("./plans/plan-page.tsx").then((m) => m.PlanPage));
const PoliciesPage = adminPage(() => import("./policies/policies-page.tsx").then((m) => m.PoliciesPage));
const PolicyPage = adminPage(() => import("./policies/policy-page.tsx").then((m) => m.PolicyPage));
const AgentsPage = adminPage(() => import("./agents/agents-page.tsx").then((m) => m.AgentsPage));
const PeoplePage = adminPage(() => import("./people/people-page.tsx").then((m) => m.PeoplePage));
const OverviewPage = adminPage(() => import("./overview/overview-page.tsx").then((m) => m.OverviewPage));

export function Pages(): JSX.Element {
  return (
    <Router>
      <Route path="/" component={InboxPage} />
      <Route path="/decisions" component={DecisionsPage} />
      <Route path="/plans/:planId" component={PlanPage} />
      <Route path="/policies" component={PoliciesPage} />
      <Route path="/policies/:agentId" component={PolicyPage} />
      <Route path="/agents" component={AgentsPage} />
      <Route path="/people" component={PeoplePage} />
      <Route path="/overview" component={OverviewPage} />
      <Route default component={NotFoundPage} />
    </Router>
  );
}

/** What a page is given: `:name` of its path, and the query. Both are whatever somebody wrote into the address bar. */
export interface PageParameters {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

type PageComponent = FunctionComponent<PageParameters>;

function page(load: () => Promise<PageComponent>): PageComponent {
  return lazy(() => load().then(guard, () => NotLoadedPage)) as PageComponent;
}

/** The server refuses what such a page asks for to everybody else; this says so at once. */
function adminPage(load: () => Promise<PageComponent>): PageComponent {
  const Loaded = page(load);
  return (parameters) => (hasRole("admin") ? <Loaded {...parameters} /> : <NotAllowedPage />);
}

function guard(Guarded: PageComponent): PageComponent {
  return (parameters) => (
    <Guard>
      <Guarded {...parameters} />
    </Guard>
  );
}

/** A mistake in a page does not take the navigation with it. */
class Guard extends Component<{ readonly children: ComponentChildren }, { readonly error?: ApiError }> {
  override state: { readonly error?: ApiError } = {};

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error: asApiError(error) });
  }

  override render(): ComponentChildren {
    const { error } = this.state;
    return error ? <ErrorState error={error} onRetry={() => location.reload()} /> : this.props.children;
  }
}

function NotLoadedPage(): JSX.Element {
  const help = "The server may have been updated, or it cannot be reached. Reload to get what it has now.";
  const error = new ApiError({ code: "unreachable", title: "This page could not be loaded", help });
  return <ErrorState error={error} onRetry={() => location.reload()} />;
}

function NotFoundPage(): JSX.Element {
  return (
    <Page title="Not found">
      <EmptyState icon="help" title="There is no such page">
        <a href="/">Go to the inbox</a>
      </EmptyState>
    </Page>
  );
}

function NotAllowedPage(): JSX.Element {
  return (
    <Page title="For administrators">
      <EmptyState icon="people" title="This page is for administrators">
        <a href="/">Go to the inbox</a>
      </EmptyState>
    </Page>
  );
}
