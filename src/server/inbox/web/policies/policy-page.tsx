import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentAnswer } from "../../../../core/api/agents.ts";
import { type ApiError, asApiError } from "../api.ts";
import type { PageParameters } from "../pages.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState, ErrorState, Loading } from "../parts/states.tsx";
import { findAgent, findPolicy, type PolicyText } from "./find-policy.ts";
import "../parts/forms.css";
import "./policies.css";
import { PolicyWorkbench } from "./policy-workbench.tsx";

/** The policy of one agent: written, tried, published, and as it was. */
export function PolicyPage({ params, query }: PageParameters): JSX.Element {
  const agentId = params["agentId"] ?? "";
  return <AgentPolicy key={agentId} agentId={agentId} query={query} />;
}

type Loaded = { readonly agent: AgentAnswer; readonly current: PolicyText | undefined } | "none";

interface AgentPolicyProps extends Pick<PageParameters, "query"> {
  readonly agentId: string;
}

function AgentPolicy({ agentId, query }: AgentPolicyProps): JSX.Element {
  const [loaded, setLoaded] = useState<Loaded>();
  const [error, setError] = useState<ApiError>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const load = async (): Promise<void> => {
      try {
        const agent = await findAgent(agentId, leaving.signal);
        const hasPolicy = agent?.policyVersion !== undefined;
        const current = hasPolicy ? await findPolicy(agentId, "current", leaving.signal) : undefined;
        setLoaded(agent ? { agent, current } : "none");
      } catch (refusal) {
        if (!leaving.signal.aborted) setError(asApiError(refusal));
      }
    };
    void load();
    return () => leaving.abort();
  }, [agentId, round]);
  const retry = (): void => {
    setError(undefined);
    setRound(round + 1);
  };
  if (loaded === "none") return <NoSuchAgent />;
  if (loaded) return <PolicyWorkbench agent={loaded.agent} current={loaded.current} query={query} />;
  return (
    <Page title="Policy">{error ? <ErrorState error={error} onRetry={retry} /> : <Loading what="the policy" />}</Page>
  );
}

function NoSuchAgent(): JSX.Element {
  return (
    <Page title="Policy">
      <EmptyState icon="policy" title="There is no such agent">
        <a href="/policies">See all agents</a>
      </EmptyState>
    </Page>
  );
}
