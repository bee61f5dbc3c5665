import type { ListQuery, PoliciesAnswer, PolicyAnswer, PolicyVersion, PushPolicyBody } from "../../core/api/index.ts";
import { digest, PolicyError, parsePolicy } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import type { StoredPolicy } from "../store/index.ts";
import { getAgent } from "./agents.ts";
import { toDetails } from "./details.ts";
import { describeEvent, type Operator } from "./operator.ts";
import { cutPart, DEFAULT_LIMIT } from "./take-part.ts";

/**
 * Makes a policy an agent's own, from its next token on. Every version is kept.
 *
 * @throws ProblemError `invalid_policy` with its issues, `not_found`, `policy_changed`
 */
export async function pushPolicy(
  operator: Operator,
  agentId: string,
  { text, comment, baseVersion }: PushPolicyBody,
): Promise<PolicyVersion> {
  assertPolicy(text);
  const { actor } = operator;
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    await getAgent(store, agentId);
    const version = { agentId, text, createdAt: at, createdBy: actor, comment: comment ?? null };
    const policy = await store.policies.push(version);
    if (!policy) throw new ProblemError("not_found");
    assertReplaced(policy.version - 1, baseVersion);
    const details = toDetails({ version: policy.version, digest: digest(text, "json", nodeSha256), comment });
    await store.adminAudit.append(describeEvent(operator, { at, action: "policy.push", target: agentId, details }));
    return describeVersion(policy);
  });
}

/** The versions of an agent's policy, newest first. @throws ProblemError `not_found`, `invalid_request` */
export async function listPolicies(
  { store }: Pick<Operator, "store">,
  agentId: string,
  { limit = DEFAULT_LIMIT, after }: ListQuery = {},
): Promise<PoliciesAnswer> {
  await getAgent(store, agentId);
  const before = after === undefined ? {} : { before: readVersion(after) };
  const some = await store.policies.list(agentId, { limit: Math.min(limit + 1, 1000), ...before });
  const { items, ...rest } = cutPart(some, Math.min(limit, 999), ({ version }) => String(version));
  return { policies: items.map(describeVersion), ...rest };
}

/** One version of an agent's policy; `current` is the newest. @throws ProblemError `not_found`, `invalid_request` */
export async function getPolicy(
  { store }: Pick<Operator, "store">,
  agentId: string,
  version: string,
): Promise<PolicyAnswer> {
  const policy =
    version === "current"
      ? await store.policies.latest(agentId)
      : await store.policies.get(agentId, readVersion(version));
  if (!policy) throw new ProblemError("not_found");
  return { ...describeVersion(policy), text: policy.text };
}

function assertPolicy(text: string): void {
  try {
    parsePolicy(text);
  } catch (error) {
    if (error instanceof PolicyError) throw new ProblemError("invalid_policy", { issues: error.issues });
    throw error;
  }
}

/** The number that a version gets says which one it follows on; what is refused takes the number back. */
function assertReplaced(replaced: number, base = replaced): void {
  if (replaced === base) return;
  const detail = `${replaced === 0 ? "No version" : `Version ${replaced}`} counts, not version ${base}`;
  throw new ProblemError("policy_changed", { detail });
}

function readVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new ProblemError("invalid_request", { issues: [{ path: "", message: "expected a version" }] });
}

function describeVersion({ agentId, version, createdAt, createdBy, comment }: StoredPolicy): PolicyVersion {
  return { agentId, version, createdAt, createdBy, ...(comment !== null && { comment }) };
}
