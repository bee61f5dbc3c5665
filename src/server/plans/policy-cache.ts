import { type Policy, parsePolicy } from "../../core/index.ts";
import type { Store } from "../store/index.ts";

const MAX_POLICIES = 100;

/** The policies that agents have now, each version parsed once. */
export class PolicyCache {
  readonly #store: Store;
  readonly #parsed = new Map<string, Policy>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** @returns undefined if the agent has none */
  async latest(agentId: string): Promise<Policy | undefined> {
    const stored = await this.#store.policies.latest(agentId);
    if (!stored) return undefined;
    const key = `${agentId} ${stored.version}`;
    const known = this.#parsed.get(key);
    if (known) return known;
    const policy = parsePolicy(stored.text);
    const [oldest] = this.#parsed.keys();
    if (this.#parsed.size >= MAX_POLICIES && oldest !== undefined) this.#parsed.delete(oldest);
    this.#parsed.set(key, policy);
    return policy;
  }
}
