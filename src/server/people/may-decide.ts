import { type Approvers, normalizeEmail } from "../../core/index.ts";
import type { ApiKey, Person, PlanState } from "../store/index.ts";

/** What decides who may decide about a hold. */
export interface Held {
  readonly approvers: Approvers;
  /** The person that the agent acts for, normalised. */
  readonly userEmail: string;
  /** Those who could have made the agent ask: see {@link listKeyOwners}. Normalised. */
  readonly keyOwners: readonly string[];
}

/** Why a person may not decide. */
export type DecisionRefusal = "not_an_approver" | "self_approval" | "key_owner_approval";

/**
 * Why a person may not decide about a hold, undefined if they may: the rule names them by role or e-mail, or as the person
 * that the agent acts for. Who only administers is no approver. Nobody approves what is done for themselves unless the rule
 * says `self`, and nobody what is done with a key of theirs.
 */
export function findRefusal(
  { email, roles }: Pick<Person, "email" | "roles">,
  { approvers, userEmail, keyOwners }: Held,
): DecisionRefusal | undefined {
  const isUser = email === userEmail;
  const isNamed =
    approvers.roles?.some((role) => roles.includes(role)) === true ||
    // What is no address by our reading names nobody: two undefined are not the same person.
    approvers.emails?.some((named) => normalizeEmail(named) === email) === true;
  if (!isNamed && !(isUser && approvers.self === true)) return "not_an_approver";
  if (isUser && approvers.self !== true) return "self_approval";
  if (keyOwners.includes(email)) return "key_owner_approval";
  return undefined;
}

/** The owners of all keys with which the agent could do anything under a plan, not only of the one that had it signed. */
export function listKeyOwners(
  keys: readonly ApiKey[],
  { apiKeyId, createdAt }: Pick<PlanState, "apiKeyId" | "createdAt">,
): readonly string[] {
  return keys
    .filter(({ id, revokedAt }) => id === apiKeyId || revokedAt === null || revokedAt > createdAt)
    .map(({ owner }) => owner);
}
