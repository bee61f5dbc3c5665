import type { Agent, Store } from "../server/store/index.ts";
import { CliError } from "./exit-codes.ts";
import { printable } from "./output/printable.ts";

/** An agent by its name, or by its id. @throws CliError `ERR_NOT_FOUND` */
export async function findAgent(store: Store, name: string): Promise<Agent> {
  const agent = (await store.agents.getByName(name)) ?? (await store.agents.get(name));
  if (agent) return agent;
  throw new CliError("ERR_NOT_FOUND", `There is no agent ${printable(name)}. See them with: intentlock agent list`);
}
