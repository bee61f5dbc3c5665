import type { JSX } from "preact";
import type { AgentAnswer, AgentsAnswer } from "../../../../core/api/agents.ts";
import type { PageParameters } from "../pages.tsx";
import { useList } from "../parts/use-list.ts";
import { api } from "../session.ts";
import { AgentDetail } from "./agent-detail.tsx";
import { AgentList } from "./agent-list.tsx";
import "./agents.css";

/** The agents, or one of them with its keys: `?agent=` says which. */
export function AgentsPage({ query }: PageParameters): JSX.Element {
  const selected = query["agent"] || undefined;
  const agents = useList<AgentAnswer>("agents", async (after, signal) => {
    const { agents: items, ...rest } = await api.get<AgentsAnswer>("/v1/agents", {
      query: { after, limit: 1000 },
      signal,
    });
    return { items, ...rest };
  });
  if (selected === undefined) return <AgentList agents={agents} />;
  return <AgentDetail key={selected} agentId={selected} agents={agents} />;
}
