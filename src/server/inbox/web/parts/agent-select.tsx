import type { JSX } from "preact";

export interface AgentSelectProps {
  readonly id: string;
  /** By id; empty: all. */
  readonly value: string;
  readonly agents: readonly { readonly agentId: string; readonly name: string }[];
  readonly onChange: (agentId: string) => void;
}

/** One agent, or all of them. The one that is chosen is there even if nobody knows its name. */
export function AgentSelect({ id, value, agents, onChange }: AgentSelectProps): JSX.Element {
  const isKnown = value === "" || agents.some(({ agentId }) => agentId === value);
  return (
    <select id={id} class="select" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      <option value="">All agents</option>
      {!isKnown && <option value={value}>{value}</option>}
      {agents.map(({ agentId, name }) => (
        <option key={agentId} value={agentId}>
          {name}
        </option>
      ))}
    </select>
  );
}
