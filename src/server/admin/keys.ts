import { randomUUID } from "node:crypto";
import type { CreatedKeyAnswer, CreateKeyBody, KeyAnswer, KeysAnswer, ListQuery } from "../../core/api/index.ts";
import { ProblemError } from "../handler.ts";
import { createSecret, hashSecret } from "../secret.ts";
import type { ApiKey } from "../store/index.ts";
import { getAgent } from "./agents.ts";
import { toDetails } from "./details.ts";
import { describeEvent, type Operator } from "./operator.ts";
import { takePart } from "./take-part.ts";

/** As much of a key as is kept to tell it from others. */
const PREFIX_CHARACTERS = 8;

/**
 * Makes an API key. The answer has it, and nothing else ever will: its hash is stored.
 *
 * @throws ProblemError `not_found` without such an agent, `unknown_user` for an owner who is no person in use
 */
export async function createKey(operator: Operator, agentId: string, body: CreateKeyBody): Promise<CreatedKeyAnswer> {
  const { owner, actsFor, name } = body;
  const at = operator.clock();
  const secret = createSecret("ilk_");
  return await operator.store.administer(async (store) => {
    await getAgent(store, agentId);
    const person = await store.people.get(owner);
    if (!person || person.disabledAt !== null) throw new ProblemError("unknown_user");
    const key = {
      id: randomUUID(),
      agentId,
      hash: hashSecret(secret),
      prefix: secret.slice(0, PREFIX_CHARACTERS),
      name: name ?? null,
      owner: person.email,
      mayActFor: actsFor ?? null,
      createdAt: at,
    };
    await store.apiKeys.create(key);
    const details = toDetails({ agentId, owner: person.email, actsFor, name });
    await store.adminAudit.append(describeEvent(operator, { at, action: "key.create", target: key.id, details }));
    return { ...describeKey({ ...key, revokedAt: null, lastUsedAt: null }), key: secret };
  });
}

/** An agent's API keys, oldest first, without the keys. @throws ProblemError `not_found` */
export async function listKeys(
  { store }: Pick<Operator, "store">,
  agentId: string,
  query: ListQuery = {},
): Promise<KeysAnswer> {
  await getAgent(store, agentId);
  const { items, ...rest } = takePart(await store.apiKeys.list(agentId), query, ({ id }) => id);
  return { keys: items.map(describeKey), ...rest };
}

/** Revokes an API key for good. @throws ProblemError `not_found` */
export async function revokeKey(operator: Operator, id: string): Promise<KeyAnswer> {
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    const key = await store.apiKeys.get(id);
    if (!key) throw new ProblemError("not_found");
    if (!(await store.apiKeys.revoke(id, at))) return describeKey(key);
    const details = { agentId: key.agentId };
    await store.adminAudit.append(describeEvent(operator, { at, action: "key.revoke", target: id, details }));
    return describeKey({ ...key, revokedAt: at });
  });
}

function describeKey({ id, agentId, owner, mayActFor, name, createdAt, lastUsedAt, revokedAt }: ApiKey): KeyAnswer {
  return {
    keyId: id,
    agentId,
    owner,
    ...(mayActFor && { actsFor: mayActFor }),
    ...(name !== null && { name }),
    createdAt,
    ...(lastUsedAt !== null && { lastUsedAt }),
    ...(revokedAt !== null && { revokedAt }),
  };
}
