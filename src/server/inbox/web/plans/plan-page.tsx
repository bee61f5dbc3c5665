import type { JSX } from "preact";
import type { StoryAnswer } from "../../../../core/api/history.ts";
import type { ApiError } from "../api.ts";
import { HoldPlan } from "../inbox/hold-plan.tsx";
import { HoldTask } from "../inbox/hold-task.tsx";
import type { PageParameters } from "../pages.tsx";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState, ErrorState, Loading } from "../parts/states.tsx";
import { countCalls } from "./count-calls.ts";
import { PlanHeader } from "./plan-header.tsx";
import "./plans.css";
import { RevokeButton } from "./revoke-button.tsx";
import { StoryPlan } from "./story-plan.ts";
import { Timeline } from "./timeline.tsx";
import { type Story, useStory } from "./use-story.ts";
import { useWanted } from "./use-wanted.ts";

/** All that happened under one plan. `#seq-7` in the address is one of its entries. */
export function PlanPage({ params }: PageParameters): JSX.Element {
  const planId = params["planId"] ?? "";
  return <StoryPage key={planId} planId={planId} />;
}

function StoryPage({ planId }: { readonly planId: string }): JSX.Element {
  const story = useStory(planId);
  const { plan, later, earlier, reload } = story;
  return (
    <Page
      title={plan ? `Plan for ${plan.user}` : "Plan"}
      class="story-page"
      actions={
        <>
          <Button icon="refresh" busy={later.isLoading || earlier.isLoading} onClick={reload}>
            Refresh
          </Button>
          {plan && <RevokeButton plan={plan} onRevoked={reload} />}
        </>
      }
    >
      {plan ? <Told story={story} plan={plan} /> : <NoStory error={later.error} onRetry={reload} />}
    </Page>
  );
}

interface ToldProps {
  readonly story: Story;
  readonly plan: StoryAnswer["plan"];
}

function Told({ story, plan }: ToldProps): JSX.Element {
  const { entries, later, earlier } = story;
  const wanted = useWanted(story);
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
            {used && (later.hasMore || earlier.hasMore) && (
              <p class="quiet">Calls are counted in the entries that are loaded.</p>
            )}
          </section>
        </div>
        <section class="hold-section story-main">
          <h2>What happened</h2>
          <StoryPlan.Provider value={plan.plan}>
            <Timeline story={story} wanted={wanted} />
          </StoryPlan.Provider>
        </section>
      </div>
    </>
  );
}

interface NoStoryProps {
  readonly error: ApiError | undefined;
  readonly onRetry: () => void;
}

function NoStory({ error, onRetry }: NoStoryProps): JSX.Element {
  if (!error) return <Loading what="the plan" />;
  if (error.code !== "not_found" && error.code !== "invalid_request")
    return <ErrorState error={error} onRetry={onRetry} />;
  return (
    <EmptyState icon="help" title="This plan is not here for you">
      <p class="quiet">There is none of this id, or it was made for somebody else.</p>
      <p>
        <a href="/decisions">See what was decided</a>
      </p>
    </EmptyState>
  );
}
