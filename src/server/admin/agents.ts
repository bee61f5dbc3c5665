import { randomUUID } from "node:crypto";
import type { AgentAnswer, AgentsAnswer, CreateAgentBody, ListQuery, UpdateAgentBody } from "../../core/api/index.ts";
import { ProblemError } from "../handler.ts";
import type { Agent, StoreInTransaction } from "../store/index.ts";
import { toDetails } from "./details.ts";
import { describeEvent, type Operator } from "./operator.ts";
import { cutPart, DEFAULT_LIMIT } from "./take-part.ts";

/** Makes an agent. @throws ProblemError `already_exists` */
export async function createAgent(operator: Operator, { name, settings = {} }: CreateAgentBody): Promise<AgentAnswer> {
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    const agent = { id: randomUUID(), name, settings, createdAt: at };
    if (!(await store.agents.create(agent))) throw new ProblemError("already_exists");
    const details = toDetails({ name, settings });
    await store.adminAudit.append(describeEvent(operator, { at, action: "agent.create", target: agent.id, details }));
    return describeAgent({ ...agent, policyVersion: 0, disabledAt: null });
  });
}

/** The agents, by name. */
export async function listAgents(
  { store }: Pick<Operator, "store">,
  { limit = DEFAULT_LIMIT, after }: ListQuery = {},
): Promise<AgentsAnswer> {
  const some = await store.agents.list({ limit: Math.min(limit + 1, 1000), ...(after !== undefined && { after }) });
  const { items, ...rest } = cutPart(some, Math.min(limit, 999), ({ name }) => name);
  return { agents: items.map(describeAgent), ...rest };
}

/** Changes an agent's name or settings, or enables it. @throws ProblemError `not_found`, `already_exists` */
export async function updateAgent(operator: Operator, id: string, body: UpdateAgentBody): Promise<AgentAnswer> {
  const at = operator.clock();
  const { name, settings, enabled } = body;
  return await operator.store.administer(async (store) => {
    await getAgent(store, id);
    if (name !== undefined && !(await store.agents.rename(id, name))) throw new ProblemError("already_exists");
    if (settings !== undefined) await store.agents.setSettings(id, settings);
    if (enabled) await store.agents.setDisabled(id, null);
    const details = toDetails(body);
    await store.adminAudit.append(describeEvent(operator, { at, action: "agent.update", target: id, details }));
    return describeAgent(await getAgent(store, id));
  });
}

/** Disables an agent: none of its keys is accepted from here on. @throws ProblemError `not_found` */
export async function disableAgent(operator: Operator, id: string): Promise<AgentAnswer> {
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    const agent = await getAgent(store, id);
    if (agent.disabledAt !== null) return describeAgent(agent);
    await store.agents.setDisabled(id, at);
    await store.adminAudit.append(describeEvent(operator, { at, action: "agent.disable", target: id }));
    return describeAgent({ ...agent, disabledAt: at });
  });
}

/** @throws ProblemError `not_found` */
export async function getAgent({ agents }: Pick<StoreInTransaction, "agents">, id: string): Promise<Agent> {
  const agent = await agents.get(id);
  if (!agent) throw new ProblemError("not_found");
  return agent;
}

function describeAgent({ id, name, settings, policyVersion, createdAt, disabledAt }: Agent): AgentAnswer {
  const version = policyVersion > 0 ? { policyVersion } : {};
  return { agentId: id, name, enabled: disabledAt === null, settings, createdAt, ...version };
}
