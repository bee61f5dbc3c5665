import type { JSX } from "preact";
import { useLocation } from "preact-iso";
import type { OverviewAnswer } from "../../../../core/api/history.ts";
import { writeFilter } from "../decisions/decision-filter.ts";
import type { PageParameters } from "../pages.tsx";
import { AgentSelect } from "../parts/agent-select.tsx";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { ErrorNote, ErrorState, Loading } from "../parts/states.tsx";
import { useAgents } from "../parts/use-agents.ts";
import { Bars } from "./bars.tsx";
import { Figures } from "./figures.tsx";
import { FlaggedPlans } from "./flagged-plans.tsx";
import "./overview.css";
import { type ChosenOverview, RANGES, readOverview, toHistory, writeOverview } from "./overview-query.ts";
import { PartsTable } from "./parts-table.tsx";
import { useOverview } from "./use-overview.ts";
import { VerdictPlot } from "./verdict-plot.tsx";

/** How much is allowed, held and blocked, for administrators. What is chosen is in the address. */
export function OverviewPage({ query }: PageParameters): JSX.Element {
  const { route } = useLocation();
  const chosen = readOverview(query);
  const { overview, error, isLoading, reload } = useOverview(chosen);
  const agents = useAgents();
  return (
    <Page
      title="Overview"
      actions={
        <>
          <Ranges chosen={chosen} />
          <div class="overview-agent">
            <label class="sr-only" for="overview-agent">
              Agent
            </label>
            <AgentSelect
              id="overview-agent"
              value={chosen.agentId ?? ""}
              agents={agents}
              onChange={(agentId) => route(writeOverview({ hours: chosen.hours, ...(agentId && { agentId }) }))}
            />
          </div>
          <Button icon="refresh" busy={isLoading} onClick={reload}>
            Refresh
          </Button>
        </>
      }
    >
      {!overview && (error ? <ErrorState error={error} onRetry={reload} /> : <Loading what="the overview" />)}
      {overview && error && <ErrorNote error={error} />}
      {overview && <Overview overview={overview} chosen={chosen} isLoading={isLoading} />}
    </Page>
  );
}

function Ranges({ chosen }: { readonly chosen: ChosenOverview }): JSX.Element {
  return (
    <nav class="ranges" aria-label="Time">
      {RANGES.map(({ hours, name }) => (
        <a
          key={hours}
          href={writeOverview({ ...chosen, hours })}
          class="range"
          {...(hours === chosen.hours && { "aria-current": "true" as const })}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

interface OverviewProps {
  readonly overview: OverviewAnswer;
  readonly chosen: ChosenOverview;
  readonly isLoading: boolean;
}

function Overview({ overview, chosen, isLoading }: OverviewProps): JSX.Element {
  const linkTo = (filter: Parameters<typeof toHistory>[1]): string =>
    `/decisions${writeFilter(toHistory(chosen, filter))}`;
  return (
    <div class="overview" aria-busy={isLoading}>
      <Figures overview={overview} chosen={chosen} />
      {overview.flaggedPlans > 0 && <FlaggedPlans overview={overview} chosen={chosen} />}
      <section class="card">
        <h2>Calls over time</h2>
        <VerdictPlot overview={overview} />
        <PartsTable overview={overview} />
      </section>
      <div class="overview-pair">
        <Bars
          title="Why calls were blocked"
          empty="Nothing was blocked in this time."
          bars={overview.reasons.map(({ reason, count }) => ({ name: reason, block: count, href: linkTo({ reason }) }))}
        />
        <Bars
          title="Tools"
          empty="Nothing was called in this time."
          bars={overview.tools.map(({ tool, ...counts }) => ({ name: tool, ...counts, href: linkTo({ tool }) }))}
        />
      </div>
    </div>
  );
}
