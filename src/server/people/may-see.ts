import type { ServerContext } from "../handler.ts";
import type { ApiKey, HoldHead, Person } from "../store/index.ts";
import { findRefusal, listKeyOwners } from "./may-decide.ts";

/** The API keys of agents, as they are while one request is answered. */
export type KeysOfAgents = Map<string, readonly ApiKey[]>;

/**
 * Which holds a person may see: while one waits, whoever may decide it; after that they and whoever did decide it, the
 * person for whom the agent asked, and administrators. Everything that shows holds asks this one place.
 */
export class HoldSight {
  readonly #context: Pick<ServerContext, "store" | "clock">;
  readonly #person: Person;
  readonly #keys: KeysOfAgents;

  /** @param keys shared by those that judge at the same moment */
  constructor(context: Pick<ServerContext, "store" | "clock">, person: Person, keys: KeysOfAgents = new Map()) {
    this.#context = context;
    this.#person = person;
    this.#keys = keys;
  }

  /** Those of them that the person may see, in the same order. */
  async filter(holds: readonly HoldHead[]): Promise<readonly HoldHead[]> {
    await this.#readKeys(holds.map(({ agentId }) => agentId));
    return holds.filter((hold) => this.#maySee(hold));
  }

  async maySee(hold: HoldHead): Promise<boolean> {
    return (await this.filter([hold])).length === 1;
  }

  #maySee(hold: HoldHead): boolean {
    const { email, roles } = this.#person;
    const { approvers, agentId, plan } = hold;
    const keyOwners = listKeyOwners(this.#keys.get(agentId) ?? [], plan);
    const refusal = findRefusal(this.#person, { approvers, userEmail: plan.userEmail, keyOwners });
    if (refusal === undefined) return true;
    if (waits(hold, this.#context.clock())) return false;
    return roles.includes("admin") || hold.decidedBy === email || plan.userEmail === email;
  }

  async #readKeys(agentIds: readonly string[]): Promise<void> {
    const missing = [...new Set(agentIds)].filter((id) => !this.#keys.has(id));
    const keys = Map.groupBy(await this.#context.store.apiKeys.listOf(missing), ({ agentId }) => agentId);
    for (const id of missing) this.#keys.set(id, keys.get(id) ?? []);
  }
}

/** Whether somebody can still decide about it. */
export function waits({ status, kind, expiresAt, plan }: HoldHead, now: number): boolean {
  return status === "pending" && now < expiresAt && plan.status === (kind === "plan" ? "pending" : "open");
}
