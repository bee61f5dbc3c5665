import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { AgentAnswer } from "../../../../core/api/agents.ts";
import { Button } from "../parts/button.tsx";
import { ListEnd } from "../parts/list-end.tsx";
import { Moment } from "../parts/moment.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { tell } from "../parts/toast.tsx";
import type { LoadedList } from "../parts/use-list.ts";
import { AgentDialog } from "./agent-dialog.tsx";
import { AgentStatusBadge } from "./agent-status.tsx";

export function AgentList({ agents }: { readonly agents: LoadedList<AgentAnswer> }): JSX.Element {
  const [isAdding, setAdding] = useState(false);
  const { route } = useLocation();
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      Make an agent
    </Button>
  );
  const goTo = ({ agentId, name }: AgentAnswer): void => {
    tell(`Made the agent ${name}. It needs a policy and a key.`, "good");
    agents.reload();
    route(linkToAgent(agentId));
  };
  return (
    <Page title="Agents" actions={add}>
      {agents.items?.length === 0 && (
        <EmptyState icon="agent" title="There is no agent yet">
          <p class="quiet">An agent has a policy, keys that its processes use, and settings.</p>
        </EmptyState>
      )}
      {agents.items && agents.items.length > 0 && <AgentTable agents={agents.items} />}
      <ListEnd list={agents} what="the agents" />
      {isAdding && <AgentDialog onClose={() => setAdding(false)} onSaved={goTo} />}
    </Page>
  );
}

export function linkToAgent(agentId: string): string {
  return `/agents?agent=${encodeURIComponent(agentId)}`;
}

function AgentTable({ agents }: { readonly agents: readonly AgentAnswer[] }): JSX.Element {
  return (
    <table class="table table-cards">
      <thead>
        <tr>
          <th>Agent</th>
          <th>State</th>
          <th>Policy</th>
          <th>Made</th>
        </tr>
      </thead>
      <tbody>
        {agents.map(({ agentId, name, enabled, policyVersion, createdAt }) => (
          <tr key={agentId}>
            <td>
              <a class="agent-link" href={linkToAgent(agentId)}>
                <Text value={name} />
              </a>
            </td>
            <td data-label="State">
              <AgentStatusBadge enabled={enabled} />
            </td>
            <td data-label="Policy">
              <a href={`/policies/${encodeURIComponent(agentId)}`}>
                {policyVersion === undefined ? "Write one" : `Version ${policyVersion}`}
                <span class="sr-only"> of {name}</span>
              </a>
            </td>
            <td data-label="Made">
              <Moment at={createdAt} show="relative" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
