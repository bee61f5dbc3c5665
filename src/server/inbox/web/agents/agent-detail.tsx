import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentAnswer } from "../../../../core/api/agents.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ListEnd } from "../parts/list-end.tsx";
import { Moment } from "../parts/moment.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { tell } from "../parts/toast.tsx";
import type { LoadedList } from "../parts/use-list.ts";
import { AgentDialog } from "./agent-dialog.tsx";
import { AgentKeys } from "./agent-keys.tsx";
import { AgentStatusBadge } from "./agent-status.tsx";
import { describeSettings } from "./describe-settings.ts";
import { EnableDialog } from "./enable-dialog.tsx";

export interface AgentDetailProps {
  readonly agentId: string;
  readonly agents: LoadedList<AgentAnswer>;
}

/** One agent: what it may do, how it is set up, and its keys. */
export function AgentDetail({ agentId, agents }: AgentDetailProps): JSX.Element {
  const agent = agents.items?.find((one) => one.agentId === agentId);
  const { hasMore, isLoading, loadMore } = agents;
  useEffect(() => {
    if (!agent && hasMore && !isLoading) loadMore();
  }, [agent, hasMore, isLoading, loadMore]);
  if (agent) return <KnownAgent agent={agent} onChange={agents.reload} />;
  return (
    <Page title="Agent">
      <BackToAgents />
      {agents.items && !hasMore ? (
        <EmptyState icon="agent" title="There is no such agent">
          <a href="/agents">See all agents</a>
        </EmptyState>
      ) : (
        <ListEnd list={agents} what="the agent" />
      )}
    </Page>
  );
}

interface KnownAgentProps {
  readonly agent: AgentAnswer;
  readonly onChange: () => void;
}

function KnownAgent({ agent, onChange }: KnownAgentProps): JSX.Element {
  const [task, setTask] = useState<"change" | "enable">();
  const close = (): void => setTask(undefined);
  const done = (words: string): void => {
    close();
    tell(words, "good");
    onChange();
  };
  return (
    <Page
      title={agent.name}
      actions={
        <>
          <a class="button" href={`/policies/${encodeURIComponent(agent.agentId)}`}>
            {agent.policyVersion === undefined ? "Write its policy" : "Policy"}
          </a>
          <Button onClick={() => setTask("change")}>Change</Button>
          <Button kind={agent.enabled ? "danger" : "primary"} onClick={() => setTask("enable")}>
            {agent.enabled ? "Disable" : "Enable"}
          </Button>
        </>
      }
    >
      <BackToAgents />
      <Facts agent={agent} />
      <AgentKeys agent={agent} />
      {task === "change" && (
        <AgentDialog agent={agent} onClose={close} onSaved={({ name }) => done(`Changed the agent ${name}.`)} />
      )}
      {task === "enable" && <EnableDialog agent={agent} onClose={close} onDone={done} />}
    </Page>
  );
}

function BackToAgents(): JSX.Element {
  return (
    <p class="agent-back">
      <a href="/agents">All agents</a>
    </p>
  );
}

function Facts({ agent }: { readonly agent: AgentAnswer }): JSX.Element {
  const { agentId, enabled, policyVersion, createdAt, settings } = agent;
  return (
    <dl class="agent-facts card">
      <div>
        <dt>State</dt>
        <dd>
          <AgentStatusBadge enabled={enabled} />
        </dd>
      </div>
      <div>
        <dt>Policy</dt>
        <dd>{policyVersion === undefined ? "None yet: no plan of its can be signed" : `Version ${policyVersion}`}</dd>
      </div>
      {describeSettings(settings).map(({ name, words, isDefault }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {words} {isDefault && <span class="quiet">(by default)</span>}
          </dd>
        </div>
      ))}
      <div>
        <dt>Made</dt>
        <dd>
          <Moment at={createdAt} />
        </dd>
      </div>
      <div>
        <dt>Id</dt>
        <dd>
          <Text class="code" value={agentId} /> <CopyButton value={agentId} what="agent's id" />
        </dd>
      </div>
    </dl>
  );
}
