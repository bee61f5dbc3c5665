import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { DecisionItem, DecisionsAnswer } from "../../../../core/api/history.ts";
import { ApiError, writeQuery } from "../api.ts";
import type { PageParameters } from "../pages.tsx";
import { Button } from "../parts/button.tsx";
import { serverNow } from "../parts/clock.ts";
import { Icon } from "../parts/icon.tsx";
import { LoadMore } from "../parts/load-more.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState, ErrorNote, ErrorState, Loading } from "../parts/states.tsx";
import { useAgents } from "../parts/use-agents.ts";
import { type Parts, useParts } from "../parts/use-parts.ts";
import { api } from "../session.ts";
import { type ChosenFilter, countFilters, readFilter, toDecisionFilter, writeFilter } from "./decision-filter.ts";
import { DecisionFilters } from "./decision-filters.tsx";
import { DecisionList } from "./decision-list.tsx";
import "./decisions.css";

/** Every decision that the person may see, the last first. What is chosen is in the address. */
export function DecisionsPage({ query }: PageParameters): JSX.Element {
  const { route } = useLocation();
  const filter = readFilter(query);
  const address = writeFilter(filter);
  const [refreshed, setRefreshed] = useState(0);
  // A range that goes with the time begins at one moment for all parts, and for the export.
  const asked = useMemo(() => toDecisionFilter(filter, serverNow()), [address, refreshed]);
  const answer = useParts<DecisionsAnswer>({
    key: `${address} ${refreshed}`,
    load: (after, signal) => api.get("/v1/decisions", { query: { ...asked, after }, signal }),
  });
  const decisions = answer.parts.flatMap((part) => part.decisions);
  const choose = (chosen: ChosenFilter): void => route(`/decisions${writeFilter(chosen)}`);
  return (
    <Page
      title="Decisions"
      actions={
        <>
          <Button icon="refresh" busy={answer.isLoading} onClick={() => setRefreshed(refreshed + 1)}>
            Refresh
          </Button>
          <a class="button" href={`/v1/decisions/export${writeQuery(asked)}`} download="decisions.ndjson">
            <Icon name="download" />
            Export JSON lines
          </a>
        </>
      }
    >
      <DecisionFilters filter={filter} onChange={choose} {...useNames(decisions)} />
      <Answer answer={answer} decisions={decisions} filter={filter} onClear={() => choose({})} />
    </Page>
  );
}

/** What there is to choose from: the agents, and what is in the decisions that are shown. */
function useNames(decisions: readonly DecisionItem[]): {
  readonly agents: readonly { readonly agentId: string; readonly name: string }[];
  readonly tools: readonly string[];
  readonly rules: readonly string[];
} {
  const all = useAgents();
  const seen = new Map(decisions.map(({ agentId, agentName: name }) => [agentId, { agentId, name }]));
  return {
    agents: all.length > 0 ? all : [...seen.values()].sort((a, b) => a.name.localeCompare(b.name)),
    tools: [...new Set(decisions.map(({ tool }) => tool))].sort(),
    // Of those that blocked: a rule that let a call through is no reason.
    rules: [...new Set(decisions.flatMap(({ reason }) => reason ?? []))].sort(),
  };
}

interface AnswerProps {
  readonly answer: Parts<DecisionsAnswer>;
  readonly decisions: readonly DecisionItem[];
  readonly filter: ChosenFilter;
  readonly onClear: () => void;
}

function Answer({ answer, decisions, filter, onClear }: AnswerProps): JSX.Element {
  const { isLoading, error, hasMore, loadMore, reload } = answer;
  if (decisions.length === 0 && !hasMore) {
    if (error) return <ErrorState error={explainError(error)} onRetry={reload} />;
    if (isLoading) return <Loading what="the decisions" />;
    return countFilters(filter) === 0 ? <NothingYet /> : <NothingFits onClear={onClear} />;
  }
  return (
    <div class="decisions-answer" aria-busy={isLoading}>
      <DecisionList decisions={decisions} />
      {error && <ErrorNote error={error} />}
      {hasMore && (
        <LoadMore
          count={decisions.length}
          isLoading={isLoading}
          isManual={error !== undefined}
          onMore={() => loadMore()}
        />
      )}
    </div>
  );
}

/** What is in the address came from somebody who wrote it, or from a field. */
function explainError(error: ApiError): ApiError {
  const { code, status, issues } = error;
  if (code !== "invalid_request") return error;
  return new ApiError({ code, status, issues, title: "These filters cannot be used" });
}

function NothingYet(): JSX.Element {
  return (
    <EmptyState icon="list" title="Nothing was decided yet">
      <p class="quiet state-words">
        Each call of a tool that an agent asks its gate about is here with its verdict: at once if the server decides it
        (<code>HttpGate</code>), and within seconds if the agent's own process does (<code>HybridGate</code>). You see
        those of plans that were made for you; administrators see all.
      </p>
    </EmptyState>
  );
}

function NothingFits({ onClear }: Pick<AnswerProps, "onClear">): JSX.Element {
  return (
    <EmptyState icon="list" title="No decision fits these filters">
      <p class="quiet">Names of tools, reasons and rules have to be whole.</p>
      <Button icon="close" onClick={onClear}>
        Clear the filters
      </Button>
    </EmptyState>
  );
}
