import type { AgentAnswer, AgentsAnswer } from "../../../../core/api/agents.ts";
import type { PolicyAnswer } from "../../../../core/api/policies.ts";
import { ApiError } from "../api.ts";
import { api } from "../session.ts";

/** A version of a policy, with line ends as the editor has them. */
export type PolicyText = PolicyAnswer;

/** An agent by its id: the server lists them. */
export async function findAgent(agentId: string, signal?: AbortSignal): Promise<AgentAnswer | undefined> {
  let after: string | undefined;
  do {
    const { agents, next }: AgentsAnswer = await api.get("/v1/agents", { query: { limit: 1000, after }, signal });
    const found = agents.find((agent) => agent.agentId === agentId);
    if (found) return found;
    after = next;
  } while (after !== undefined);
  return undefined;
}

/** A version of an agent's policy; undefined if there is none. */
export async function findPolicy(
  agentId: string,
  version: number | "current",
  signal?: AbortSignal,
): Promise<PolicyText | undefined> {
  try {
    const path = `/v1/agents/${encodeURIComponent(agentId)}/policies/${version}`;
    const policy = await api.get<PolicyAnswer>(path, { signal });
    return { ...policy, text: policy.text.replace(/\r\n?/g, "\n") };
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return undefined;
    throw error;
  }
}
