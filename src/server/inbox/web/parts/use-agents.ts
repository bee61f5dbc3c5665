import { useEffect, useState } from "preact/hooks";
import type { AgentAnswer, AgentsAnswer } from "../../../../core/api/agents.ts";
import { api, hasRole } from "../session.ts";

/** As many as a choice is made of. */
const MOST = 1000;

/** The agents by name, for administrators to choose from; none for others, and while nobody knows. */
export function useAgents(): readonly Pick<AgentAnswer, "agentId" | "name">[] {
  const [agents, setAgents] = useState<AgentsAnswer["agents"]>([]);
  useEffect(() => {
    if (!hasRole("admin")) return;
    const leaving = new AbortController();
    api
      .get<AgentsAnswer>("/v1/agents", { query: { limit: MOST }, signal: leaving.signal })
      .then((answer) => setAgents(answer.agents.toSorted((a, b) => a.name.localeCompare(b.name))))
      // One can do without: what is shown has the agents in it, too.
      .catch(() => undefined);
    return () => leaving.abort();
  }, []);
  return agents;
}
