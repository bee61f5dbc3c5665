import type { JSX } from "preact";
import type { StoryAnswer } from "../../../../core/api/history.ts";
import type { InboxItem } from "../../../../core/api/holds.ts";
import { HoldPlan } from "../inbox/hold-plan.tsx";
import { HoldTask } from "../inbox/hold-task.tsx";
import type { PageParameters } from "../pages.tsx";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState, ErrorState, Loading } from "../parts/states.tsx";
import { type Parts, useParts } from "../parts/use-parts.ts";
import { api } from "../session.ts";
import { countCalls } from "./count-calls.ts";
import { PlanHeader } from "./plan-header.tsx";
import "./plans.css";
import { RevokeButton } from "./revoke-button.tsx";
import { Timeline } from "./timeline.tsx";
import { useWanted } from "./use-wanted.ts";

/** All that happened under one plan. `#seq-7` in the address is one of its entries. */
export function PlanPage({ params }: PageParameters): JSX.Element {
  const planId = params["planId"] ?? "";
  const story = useParts<StoryAnswer>({
    key: planId,
    load: (after, signal) => api.get(`/v1/plans/${encodeURIComponent(planId)}/story`, { query: { after }, signal }),
  });
  const plan = story.key === planId ? story.parts.at(-1)?.plan : undefined;
  return (
    <Page
      title={plan ? `Plan for ${plan.user}` : "Plan"}
      class="story-page"
      actions={
        <>
          <Button icon="refresh" busy={story.isLoading} onClick={story.reload}>
            Refresh
          </Button>
          {plan && <RevokeButton plan={plan} onRevoked={story.reload} />}
        </>
      }
    >
      {plan ? <Story story={story} plan={plan} /> : <NoStory story={story} />}
    </Page>
  );
}

interface StoryProps {
  readonly story: Parts<StoryAnswer>;
}

function Story({ story, plan }: StoryProps & { readonly plan: StoryAnswer["plan"] }): JSX.Element {
  const entries = story.parts.flatMap((part) => part.entries);
  // Those that were too long for the first part come with the next ones.
  const holds = [...new Map(story.parts.flatMap((part) => part.holds.map((hold) => [hold.holdId, hold]))).values()];
  const wanted = useWanted(story, entries);
  const used = plan.status === "pending" ? undefined : countCalls(entries, plan.plan.steps.length);
  return (
    <>
      <PlanHeader plan={plan} />
      <div class="story">
        <div class="story-side">
          <section class="hold-section">
            <h2>The task</h2>
            <HoldTask task={plan.task} />
          </section>
          <section class="hold-section">
            <h2>The plan</h2>
            <HoldPlan plan={plan.plan} used={used} />
            {used && story.hasMore && <p class="quiet">Calls are counted in the entries that are loaded.</p>}
          </section>
        </div>
        <section class="hold-section story-main">
          <h2>What happened</h2>
          <Timeline story={story} entries={entries} holds={holds as readonly InboxItem[]} wanted={wanted} />
        </section>
      </div>
    </>
  );
}

function NoStory({ story: { error, reload } }: StoryProps): JSX.Element {
  if (!error) return <Loading what="the plan" />;
  if (error.code !== "not_found" && error.code !== "invalid_request")
    return <ErrorState error={error} onRetry={reload} />;
  return (
    <EmptyState icon="help" title="This plan is not here for you">
      <p class="quiet">There is none of this id, or it was made for somebody else.</p>
      <p>
        <a href="/decisions">See what was decided</a>
      </p>
    </EmptyState>
  );
}
