import { randomUUID } from "node:crypto";
import type { PendingPlanAnswer, SignedPlanAnswer, SignPlanBody } from "../../core/api/index.ts";
import { type AuditEvent, chainEntry, digest, type Plan, PlanError, parsePlan, startChain } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import type { NewPlan } from "../store/index.ts";
import { PLAN_HOLD_SECONDS } from "./agent-defaults.ts";
import { type AgentCaller, assertMayActFor } from "./find-plan.ts";
import { type Issuer, issueToken, snapshotPerson, toSignedPlan } from "./issue-token.ts";

/** Who may approve a plan before it is signed; never the person that the agent acts for, or the owner of its key. */
const PLAN_APPROVERS = { roles: ["approver", "admin"] } as const;

/**
 * Signs a plan, or holds it if the agent's settings or the request say so: then nothing is signed until a refresh after
 * somebody has approved it.
 *
 * @throws ProblemError `user_not_allowed`, `unknown_user`, `no_policy`, `invalid_plan`, `payload_too_large`
 */
export async function signPlan(
  issuer: Issuer,
  { agent, apiKey }: AgentCaller,
  body: SignPlanBody,
): Promise<SignedPlanAnswer | PendingPlanAnswer> {
  const { store, clock } = issuer.context;
  const { user: userEmail, task, tools, clientKey = null } = body;
  assertMayActFor(apiKey, userEmail);
  snapshotPerson(await store.people.get(userEmail));
  const plan = readPlan(body.plan, Object.keys(tools));
  const taskDigest = digest(task, "task", nodeSha256);
  const id = randomUUID();
  const facts = { id, userEmail, plan, tools, taskDigest, clientKey };
  const createdAt = Math.floor(clock());
  const row = { ...facts, agentId: agent.id, apiKeyId: apiKey.id, task, createdAt };
  if (agent.settings.approvePlans || body.approvePlan) {
    if (!(await issuer.policies.latest(agent.id))) throw new ProblemError("no_policy");
    await store.plans.create({ ...row, status: "pending" });
    return { planId: id, status: "pending", holdId: await holdPlan(issuer, row), serverTime: createdAt };
  }
  const { issued } = await issueToken(issuer, agent, facts);
  // A client that decides writes the whole chain, this entry too.
  const first = clientKey ? {} : startWith(id, { type: "plan_signed", token: issued.token }, createdAt);
  await store.plans.create({ ...row, status: "open", token: issued, ...first });
  return toSignedPlan(facts, issued, clock());
}

function readPlan(value: unknown, tools: readonly string[]): Plan {
  try {
    return parsePlan(value, { tools });
  } catch (error) {
    if (error instanceof PlanError) throw new ProblemError("invalid_plan", { issues: error.issues });
    throw error;
  }
}

function startWith(planId: string, event: AuditEvent, at: number): Pick<NewPlan, "entries" | "head"> {
  const { entry, head } = chainEntry(startChain(planId), event, { at, hash: nodeSha256 });
  return { entries: [entry], head: head.prev as string };
}

async function holdPlan({ context: { store } }: Issuer, plan: Omit<NewPlan, "status">): Promise<string> {
  const { outcome, hold } = await store.holds.open(
    {
      id: randomUUID(),
      kind: "plan",
      planId: plan.id,
      agentId: plan.agentId,
      decisionSeq: null,
      callId: null,
      tool: null,
      fingerprint: null,
      args: undefined,
      digest: digest(plan.plan, "json", nodeSha256),
      step: null,
      rule: null,
      ruleReason: null,
      approvers: PLAN_APPROVERS,
      createdAt: plan.createdAt,
      expiresAt: plan.createdAt + PLAN_HOLD_SECONDS * 1000,
    },
    // It is no call's: an agent without holds of calls may have it.
    { maxHolds: 1 },
  );
  if (!hold) throw new Error(`a new plan cannot be held: ${outcome}`);
  return hold.id;
}
