import {
  type Approval,
  type Call,
  check,
  type Decision,
  digestCall,
  type Evidence,
  type Ledger,
  type OpenedToken,
  openPlanToken,
  type Plan,
  type PlanClaims,
  type PlanStep,
  type Policy,
  type PolicyRule,
  parsePlan,
  parsePolicy,
  type SigningKey,
  signPlanToken,
} from "../src/core/index.ts";
import { ValidToken } from "../src/core/plan-token.ts";

/** The time of every test, in seconds since the epoch. */
export const NOW = 1_800_000_000;
/** The agent that tokens are signed for. */
export const AGENT = "agent";
export const ALICE = "alice@acme.dev";
export const PLAN_ID = "plan-1";

/** The key of RFC 8037, appendix A: known to everybody, and the same in every run. */
export const KEY: SigningKey = signingKey({
  kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
});

/** A rule that allows every planned call, unless told otherwise. */
export function aRule(over: Partial<PolicyRule> = {}): PolicyRule {
  return { id: "allow-in-plan", match: { inPlan: true }, decision: "allow", ...over };
}

/** A policy of these rules; without any, of one that allows what is planned. */
export function aPolicy(...rules: readonly PolicyRule[]): Policy {
  const text = JSON.stringify({ version: 1, default: "block", rules: rules.length === 0 ? [aRule()] : rules });
  return parsePolicy(text);
}

/** A policy without rules: it allows nothing. */
export function anEmptyPolicy(): Policy {
  return parsePolicy("version: 1\ndefault: block\nrules: []\n");
}

/** A plan of these steps; without any, of one that sends money without limit. */
export function aPlan(...steps: readonly Partial<PlanStep>[]): Plan {
  const given = (steps.length === 0 ? [{}] : steps).map((step) => ({ tool: "send_money", ...step }));
  return parsePlan({ goal: "Pay the rent", steps: given }, { tools: given.map(({ tool }) => tool) });
}

/** The claims of a plan token that was signed ten seconds ago and is valid for another 890. */
export function claims(over: Partial<PlanClaims> = {}): PlanClaims {
  return {
    ver: 1,
    iss: "test",
    aud: AGENT,
    sub: ALICE,
    iat: NOW - 10,
    exp: NOW + 890,
    jti: "token-1",
    planId: PLAN_ID,
    plan: aPlan(),
    user: { email: ALICE, roles: ["member"], groups: [] },
    policy: aPolicy(),
    ...over,
  };
}

/** A signed plan token, as text. */
export async function aJwt(over: Partial<PlanClaims> = {}, key: SigningKey = KEY): Promise<string> {
  return await signPlanToken(claims(over), key);
}

/** Opens a token as the agent that holds {@link KEY}. */
export async function open(jwt: string): Promise<OpenedToken> {
  return await openPlanToken(jwt, [KEY.publicKey], { audience: AGENT });
}

/** A token that was signed and opened. */
export async function aToken(over: Partial<PlanClaims> = {}): Promise<OpenedToken> {
  return await open(await aJwt(over));
}

/** {@link aToken} without the signature, for properties that need hundreds of them. */
export function anUnsignedToken(over: Partial<PlanClaims> = {}): OpenedToken {
  return new ValidToken(claims(over));
}

export function aCall(over: Partial<Call> = {}): Call {
  return { callId: "call-1", tool: "send_money", args: { to: "landlord", amount: 20 }, ...over };
}

/** A person's approval of exactly this call under the rule `hold-it`. */
export function anApproval(call: Call = aCall(), over: Partial<Approval> = {}): Approval {
  return {
    holdId: "hold-1",
    planId: PLAN_ID,
    rule: "hold-it",
    digest: digestCall(call),
    approvedBy: "bob@acme.dev",
    exp: NOW + 60,
    ...(call.fingerprint !== undefined && { fingerprint: call.fingerprint }),
    ...over,
  };
}

/** A ledger from which nothing was taken yet. */
export function aLedger(over: Partial<Ledger> = {}): Ledger {
  return { session: { calls: 0, payoutMicros: 0 }, principal: { calls: 0, payoutMicros: 0 }, ...over };
}

/** `check()` now, with nothing used yet, under a token with these claims. */
export async function decide(
  over: Partial<PlanClaims> = {},
  {
    call = aCall(),
    used,
    now = NOW,
    evidence,
  }: { call?: Call; used?: readonly number[]; now?: number; evidence?: Evidence } = {},
): Promise<Decision> {
  const token = await aToken(over);
  const counts = used ?? (token.valid ? token.claims.plan.steps.map(() => 0) : []);
  return check({ token, call, used: counts, now, ...(evidence && { evidence }) });
}

/** `allow`, `hold:RULE` or `block:REASON`. */
export function summarize(decision: Decision): string {
  switch (decision.verdict) {
    case "allow":
      return "allow";
    case "hold":
      return `hold:${decision.rule}`;
    case "block":
      return `block:${decision.reason}`;
    default:
      return decision satisfies never;
  }
}

function signingKey({ kid, x, d }: { kid: string; x: string; d: string }): SigningKey {
  const publicKey = { kty: "OKP", crv: "Ed25519", kid, x } as const;
  return { kid, publicKey, privateKey: { ...publicKey, d } };
}
