import type { AgentAnswer, KeyAnswer, PersonAnswer, SigningKeyAnswer } from "../../core/api/index.ts";
import type { Paint } from "./paint.ts";
import { type Cell, printTable } from "./table.ts";
import { printMoment, printNames } from "./words.ts";

export function printAgents(agents: readonly AgentAnswer[], paint: Paint): string {
  if (agents.length === 0) return "There are no agents. Make one with: intentlock agent create NAME\n";
  const rows = agents.map(({ name, agentId, enabled, policyVersion, createdAt }) => [
    name,
    agentId,
    printState(enabled, "disabled"),
    policyVersion === undefined ? "none" : `version ${policyVersion}`,
    printMoment(createdAt),
  ]);
  return printTable(["NAME", "ID", "STATE", "POLICY", "CREATED"], rows, paint);
}

/** API keys, without the keys. `names` are of the agents, by id. */
export function printKeys(keys: readonly KeyAnswer[], names: ReadonlyMap<string, string>, paint: Paint): string {
  if (keys.length === 0) return "There are no keys. Make one with: intentlock key create --agent NAME --owner EMAIL\n";
  const rows = keys.map(({ keyId, agentId, owner, actsFor, revokedAt, lastUsedAt, createdAt }) => [
    keyId,
    names.get(agentId) ?? agentId,
    owner,
    actsFor ? printNames(actsFor) : "everybody",
    printState(revokedAt === undefined, "revoked"),
    printMoment(lastUsedAt),
    printMoment(createdAt),
  ]);
  return printTable(["KEY", "AGENT", "OWNER", "ACTS FOR", "STATE", "LAST USED", "CREATED"], rows, paint);
}

export function printPeople(people: readonly PersonAnswer[], paint: Paint): string {
  if (people.length === 0) return "There are no people. Add one with: intentlock user add EMAIL --role member\n";
  const rows = people.map(({ email, roles, groups, createdAt }) => [
    email,
    printNames(roles),
    printNames(groups),
    printMoment(createdAt),
  ]);
  return printTable(["E-MAIL", "ROLES", "GROUPS", "ADDED"], rows, paint);
}

export function printSigningKeys(keys: readonly SigningKeyAnswer[], paint: Paint): string {
  if (keys.length === 0) return "There are no signing keys: the server makes the first when it signs.\n";
  const rows = keys.map(({ kid, status, createdAt, retiresAt }) => [
    kid,
    { text: status, style: status === "active" ? "green" : "dim" } as const,
    printMoment(createdAt),
    printMoment(retiresAt),
  ]);
  return printTable(["KEY", "STATE", "CREATED", "RETIRES"], rows, paint);
}

function printState(isInUse: boolean, otherwise: string): Cell {
  return isInUse ? { text: "in use", style: "green" } : { text: otherwise, style: "red" };
}
