import { randomUUID } from "node:crypto";
import type { SignedPlanAnswer } from "../../core/api/index.ts";
import {
  IntentlockError,
  type OpenedToken,
  openPlanToken,
  type Plan,
  type Policy,
  type PublicKey,
  signPlanToken,
} from "../../core/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import type { Agent, IssuedToken, Person } from "../store/index.ts";
import { AGENT_DEFAULTS } from "./agent-defaults.ts";
import type { PolicyCache } from "./policy-cache.ts";

/** What every token of a plan says. */
export interface PlanFacts {
  readonly id: string;
  readonly userEmail: string;
  readonly plan: Plan;
  readonly tools: Readonly<Record<string, string>>;
  readonly taskDigest: string;
  readonly clientKey: PublicKey | null;
}

export interface Issuer {
  readonly context: ServerContext;
  readonly policies: PolicyCache;
}

/** A token for the store, and the same one for whoever decides. */
export interface NewToken {
  readonly issued: IssuedToken;
  readonly opened: OpenedToken;
}

/**
 * Signs a token for a plan, with the person and the policy as they are now.
 *
 * @throws ProblemError `unknown_user`, `no_policy`, `payload_too_large`
 */
export async function issueToken(
  { context, policies }: Issuer,
  { id, settings }: Agent,
  facts: PlanFacts,
): Promise<NewToken> {
  const { store, keys, publicUrl, clock } = context;
  const [person, policy, key] = await Promise.all([
    store.people.get(facts.userEmail),
    policies.latest(id),
    keys.signingKey(),
  ]);
  const user = snapshotPerson(person);
  if (!policy) throw new ProblemError("no_policy");
  const now = Math.floor(clock() / 1000);
  const exp = now + (settings.planTtlSeconds ?? AGENT_DEFAULTS.planTtlSeconds);
  const jti = randomUUID();
  const claims = {
    iss: publicUrl,
    aud: id,
    sub: user.email,
    jti,
    iat: now,
    exp,
    planId: facts.id,
    plan: facts.plan,
    user,
    policy: policy satisfies Policy,
    tools: facts.tools,
    task: facts.taskDigest,
    ...(settings.budget && { budget: settings.budget }),
    ...(facts.clientKey && { cnf: { jwk: facts.clientKey } }),
  };
  const token = await sign(claims, key);
  const opened = await openPlanToken(token, [key.publicKey], { audience: id });
  if (!opened.valid) throw new IntentlockError("ERR_INVALID_KEY", `The new token is not valid: ${opened.detail}`);
  return { issued: { jti, token, expiresAt: exp * 1000 }, opened };
}

async function sign(...[claims, key]: Parameters<typeof signPlanToken>): Promise<string> {
  try {
    return await signPlanToken(claims, key);
  } catch (cause) {
    if (!(cause instanceof IntentlockError) || cause.code !== "ERR_INVALID_CLAIMS") throw cause;
    // All of it was read before: only together it can be too much.
    throw new ProblemError("payload_too_large", {
      detail: "the plan, its tools and the policy do not fit into a token",
      cause,
    });
  }
}

/** @throws ProblemError `unknown_user` for nobody, and for somebody who is disabled */
export function snapshotPerson(person: Person | undefined): {
  readonly email: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
} {
  if (!person || person.disabledAt !== null) throw new ProblemError("unknown_user");
  const { email, roles, groups } = person;
  return { email, roles, groups };
}

export function toSignedPlan(
  { id, plan }: Pick<PlanFacts, "id" | "plan">,
  { token, expiresAt }: Pick<IssuedToken, "token" | "expiresAt">,
  now: number,
): SignedPlanAnswer {
  return { planId: id, plan, token, expiresAt: Math.floor(expiresAt / 1000), serverTime: Math.floor(now) };
}
