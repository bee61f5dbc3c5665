import type { JSX } from "preact";
import type { AgentAnswer, AgentsAnswer } from "../../../../core/api/agents.ts";
import { Badge } from "../parts/badge.tsx";
import { ListEnd } from "../parts/list-end.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { useList } from "../parts/use-list.ts";
import { api } from "../session.ts";
import "../parts/forms.css";
import "./policies.css";

/** Whose policy? Each agent has one of its own. */
export function PoliciesPage(): JSX.Element {
  const agents = useList<AgentAnswer>("agents", async (after, signal) => {
    const { agents: items, ...rest } = await api.get<AgentsAnswer>("/v1/agents", { query: { after }, signal });
    return { items, ...rest };
  });
  return (
    <Page title="Policies">
      {agents.items?.length === 0 && (
        <EmptyState icon="policy" title="There is no agent yet">
          <a href="/agents">Make an agent first</a>
        </EmptyState>
      )}
      {agents.items && agents.items.length > 0 && (
        <ul class="policy-agents card">
          {agents.items.map((agent) => (
            <AgentLink key={agent.agentId} agent={agent} />
          ))}
        </ul>
      )}
      <ListEnd list={agents} what="the agents" />
    </Page>
  );
}

function AgentLink({ agent: { agentId, name, enabled, policyVersion } }: { readonly agent: AgentAnswer }): JSX.Element {
  return (
    <li>
      <a class="policy-agent" href={`/policies/${encodeURIComponent(agentId)}`}>
        <Text class="policy-agent-name" value={name} />
        <span class="quiet">{policyVersion === undefined ? "No policy yet" : `Version ${policyVersion}`}</span>
        {!enabled && <Badge tone="bad">Disabled</Badge>}
      </a>
    </li>
  );
}
