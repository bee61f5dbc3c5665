import { randomUUID } from "node:crypto";
import {
  type Budget,
  type Decision,
  digest,
  generateSigningKey,
  type HoldDecision,
  IntentlockError,
  type OpenedToken,
  openPlanToken,
  type Policy,
  parsePlan,
  parsePolicy,
  type SigningKey,
  signPlanToken,
} from "../core/index.ts";
import type { AuditSink } from "./audit-sink.ts";
import { AuditTrail } from "./audit-trail.ts";
import type { Gate, GateCall, HoldResolution, Outcome, SignedPlan, SignRequest } from "./gate.ts";
import { decideLocally, type PlanState, refuseCall } from "./local-decision.ts";
import { LocalLedger } from "./local-ledger.ts";
import { nodeSha256 } from "./node-sha256.ts";
import { type People, resolveUser } from "./people.ts";

export interface LocalGateOptions {
  /** The policy, as YAML text or parsed. */
  readonly policy: string | Policy;
  /** The people that agents may act for. Without it, roles and groups are what the application says. */
  readonly users?: People;
  /** Signs the plans; one is made for this process if none is given. */
  readonly signingKey?: SigningKey;
  /** Where the audit entries go; nowhere unless told. */
  readonly audit?: AuditSink;
  /** Leave the arguments of calls out of the audit entries. Their decisions cannot be recomputed then. */
  readonly redact?: boolean;
  readonly budget?: Budget;
  /** The agent's id, for which tokens are signed. Default: `local`. */
  readonly agent?: string;
  /** How long a token is valid; it is renewed in time. Default: 900. */
  readonly planTtlSeconds?: number;
  /** How long a plan can be renewed. Default: 86,400. */
  readonly planMaxAgeSeconds?: number;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
}

/**
 * Decides in this process, without a server. There is nobody to ask: a rule that holds a call blocks it, as
 * `hold_requires_server`.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { LocalGate, MemoryAuditSink } from "intentlock/gates";
 *
 * const gate = new LocalGate({ policy: await readFile("policy.yaml", "utf8"), audit: new MemoryAuditSink() });
 */
export class LocalGate implements Gate {
  readonly #policy: Policy;
  readonly #people: People | undefined;
  readonly #audit: AuditSink | undefined;
  readonly #redact: boolean;
  readonly #agent: string;
  readonly #ttlSeconds: number;
  readonly #maxAgeSeconds: number;
  readonly #clock: () => number;
  readonly #ledger: LocalLedger;
  readonly #plans = new Map<string, PlanState>();
  #key: SigningKey | Promise<SigningKey> | undefined;

  /** @throws PolicyError if the policy is not valid */
  constructor(options: LocalGateOptions) {
    // A policy object may have been put together by hand: its text form is checked like any other.
    this.#policy = parsePolicy(typeof options.policy === "string" ? options.policy : JSON.stringify(options.policy));
    this.#people = options.users;
    this.#key = options.signingKey;
    this.#audit = options.audit;
    this.#redact = options.redact ?? false;
    this.#agent = options.agent ?? "local";
    this.#ttlSeconds = options.planTtlSeconds ?? 900;
    this.#maxAgeSeconds = options.planMaxAgeSeconds ?? 86_400;
    this.#clock = options.clock ?? Date.now;
    this.#ledger = new LocalLedger(options.budget);
  }

  /** @throws PlanError, IntentlockError `ERR_UNKNOWN_USER`, `ERR_AUDIT_WRITE` */
  async sign(request: SignRequest): Promise<SignedPlan> {
    this.#forgetOld();
    const plan = parsePlan(request.plan, { tools: Object.keys(request.tools) });
    const planId = randomUUID();
    const base = {
      planId,
      plan,
      user: request.user,
      tools: { ...request.tools },
      task: digest(request.task, "task", nodeSha256),
      signedAt: this.#now(),
    };
    const trail = new AuditTrail(planId, { sink: this.#audit, clock: this.#clock, hash: nodeSha256 });
    const { signed, opened } = await this.#issue(base);
    const spent = { calls: 0, payoutMicros: 0 };
    const state: PlanState = {
      ...base,
      trail,
      signed,
      opened,
      spent,
      accepted: signed.token,
      used: plan.steps.map(() => 0),
      open: new Map(),
      renewal: undefined,
    };
    await write(trail, { type: "plan_signed", token: signed.token });
    this.#plans.set(planId, state);
    return signed;
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_UNKNOWN_USER`, `ERR_AUDIT_WRITE` */
  async refresh(plan: SignedPlan): Promise<SignedPlan> {
    const state = this.#plans.get(plan.planId);
    if (!state) throw new IntentlockError("ERR_UNKNOWN_PLAN", "This gate did not sign the plan, or it is closed");
    state.renewal ??= this.#renew(state).finally(() => {
      state.renewal = undefined;
    });
    return await state.renewal;
  }

  async check(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.#decide(plan, call, true);
  }

  async peek(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.#decide(plan, call, false);
  }

  /** @throws IntentlockError `ERR_HOLD_UNSUPPORTED` always: `check` has blocked every call that a rule holds */
  async awaitHold(_hold: HoldDecision, _options: { readonly timeoutMs: number }): Promise<HoldResolution> {
    throw new IntentlockError(
      "ERR_HOLD_UNSUPPORTED",
      "A LocalGate has nobody to ask: use a gate with a server for holds",
    );
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_INVALID_OUTCOME`, `ERR_AUDIT_WRITE` */
  async record(outcome: Outcome): Promise<void> {
    const state = this.#plans.get(outcome.planId);
    if (!state) throw new IntentlockError("ERR_UNKNOWN_PLAN", "This gate did not sign the plan, or it is closed");
    if (outcome.type === "closed") {
      this.#plans.delete(outcome.planId);
      await write(state.trail, { type: "closed" });
      return;
    }
    const { planId: _, ...event } = outcome;
    const reservation = state.open.get(outcome.decisionSeq);
    if (!reservation) throw new IntentlockError("ERR_INVALID_OUTCOME", "No allowed call waits for this outcome");
    state.open.delete(outcome.decisionSeq);
    await write(state.trail, event);
    // Not before it is on record: counts that are rebuilt from the records must never be lower than these.
    if (outcome.status === "aborted") reservation.giveBack();
  }

  async close(): Promise<void> {
    const open = [...this.#plans.keys()];
    try {
      await Promise.all(open.map((planId) => this.record({ type: "closed", planId })));
    } finally {
      await this.#audit?.close?.();
    }
  }

  async #decide(plan: SignedPlan, call: GateCall, reserve: boolean): Promise<Decision> {
    const started = performance.now();
    const elapsedUs = (): number => Math.round((performance.now() - started) * 1000);
    try {
      const state = this.#plans.get(plan.planId);
      if (!state || !(await this.#accepts(state, plan.token))) {
        return refuseCall(call, {
          reason: "invalid_token",
          stage: "token",
          detail: "this gate did not sign the plan, or it is closed",
        });
      }
      if (reserve && this.#now() >= state.signed.expiresAt - this.#ttlSeconds / 10) {
        // If it fails, check() says whether the token that there is still counts.
        await this.refresh(state.signed).catch(() => undefined);
      }
      return await decideLocally(state, call, {
        reserve,
        now: this.#now(),
        ledger: this.#ledger,
        redact: this.#redact,
        elapsedUs,
      });
    } catch {
      return refuseCall(call, { reason: "internal_error", stage: "gate", detail: "an error happened while deciding" });
    }
  }

  /** Whether a token is one of this plan's. Its signature is verified once. */
  async #accepts(state: PlanState, token: string): Promise<boolean> {
    if (token === state.accepted || token === state.signed.token) return true;
    const opened = await this.#open(token);
    if (!opened.valid || opened.claims.planId !== state.planId) return false;
    state.accepted = token;
    return true;
  }

  async #renew(state: PlanState): Promise<SignedPlan> {
    if (this.#now() >= state.signedAt + this.#maxAgeSeconds) {
      throw new IntentlockError("ERR_PLAN_EXPIRED", "The plan is too old to be renewed: start a new session");
    }
    const { signed, opened } = await this.#issue(state);
    await write(state.trail, { type: "refresh", token: signed.token });
    state.signed = signed;
    state.opened = opened;
    return signed;
  }

  async #issue(
    state: Pick<PlanState, "planId" | "plan" | "user" | "tools" | "task">,
  ): Promise<{ signed: SignedPlan; opened: OpenedToken }> {
    const user = await resolveUser(state.user, this.#people);
    const { planId, plan, tools, task } = state;
    const { budget } = this.#ledger;
    const iat = this.#now();
    const exp = iat + this.#ttlSeconds;
    const token = await signPlanToken(
      {
        iss: this.#agent,
        aud: this.#agent,
        sub: user.email,
        jti: randomUUID(),
        iat,
        exp,
        planId,
        plan,
        user,
        policy: this.#policy,
        tools,
        task,
        ...(budget && { budget }),
      },
      await this.#signingKey(),
    );
    return { signed: Object.freeze({ planId, plan, token, expiresAt: exp }), opened: await this.#open(token) };
  }

  async #open(token: string): Promise<OpenedToken> {
    const { publicKey } = await this.#signingKey();
    return await openPlanToken(token, [publicKey], { audience: this.#agent });
  }

  #signingKey(): SigningKey | Promise<SigningKey> {
    this.#key ??= generateSigningKey();
    return this.#key;
  }

  #now(): number {
    return Math.floor(this.#clock() / 1000);
  }

  /** Plans that nobody closed and that can no longer be renewed. */
  #forgetOld(): void {
    const before = this.#now() - this.#maxAgeSeconds - this.#ttlSeconds;
    for (const [planId, { signedAt }] of this.#plans) {
      if (signedAt >= before) break;
      this.#plans.delete(planId);
    }
  }
}

async function write(trail: AuditTrail, event: Parameters<AuditTrail["write"]>[0]): Promise<void> {
  try {
    await trail.write(event);
  } catch (cause) {
    throw new IntentlockError("ERR_AUDIT_WRITE", "The audit entry could not be written", { cause });
  }
}
