import { randomUUID } from "node:crypto";
import { parseBudget } from "../core/budget.ts";
import {
  type Budget,
  type Decision,
  digest,
  type HoldDecision,
  IntentlockError,
  type OpenedToken,
  type Policy,
  PolicyError,
  type PublicKey,
  parsePlan,
  parsePolicy,
  type SigningKey,
} from "../core/index.ts";
import type { AuditSink } from "./audit-sink.ts";
import { AuditTrail } from "./audit-trail.ts";
import type { Gate, GateCall, HoldResolution, Outcome, SignedPlan, SignRequest } from "./gate.ts";
import { decideLocally, refuseCall } from "./local-decision.ts";
import { LocalLedger } from "./local-ledger.ts";
import { nodeSha256 } from "./node-sha256.ts";
import { type People, toUser } from "./people.ts";
import { type PlanState, recordClosed, recordOutcome, unknownPlan, writeEvent } from "./plan-state.ts";
import { TokenIssuer } from "./token-issuer.ts";

export interface LocalGateOptions {
  /** The policy, as YAML text or parsed. */
  readonly policy: string | Policy;
  /** The people that agents may act for. Without it, roles and groups are what the application says. */
  readonly users?: People | undefined;
  /** Signs the plans; one is made for this process if none is given. */
  readonly signingKey?: SigningKey | undefined;
  /** Where the audit entries go; nowhere unless told. */
  readonly audit?: AuditSink | undefined;
  /** Leave the arguments of calls out of the audit entries. Their decisions cannot be recomputed then. */
  readonly redact?: boolean | undefined;
  readonly budget?: Budget | undefined;
  /** The agent's id, for which tokens are signed. Default: `local`. */
  readonly agent?: string | undefined;
  /** How long a token is valid; it is renewed in time. Default: 900. */
  readonly planTtlSeconds?: number | undefined;
  /** How long a plan can be renewed. Default: 86,400. */
  readonly planMaxAgeSeconds?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
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
  readonly #issuer: TokenIssuer;
  readonly #audit: AuditSink | undefined;
  readonly #redact: boolean;
  readonly #ttlSeconds: number;
  readonly #maxAgeSeconds: number;
  readonly #clock: () => number;
  readonly #ledger: LocalLedger;
  /** In the order in which they were signed: the open ones, and closed ones whose calls still run. */
  readonly #plans = new Map<string, PlanState>();
  #closing: Promise<void> | undefined;

  /** @throws PolicyError if the policy is not valid, IntentlockError `ERR_INVALID_OPTIONS` if something else is not */
  constructor(options: LocalGateOptions) {
    if (options?.policy === undefined) {
      throw new PolicyError([{ path: "policy", message: "missing; expected the text of a policy, or a parsed one" }]);
    }
    if (options.audit !== undefined && typeof options.audit.append !== "function") {
      throw new IntentlockError("ERR_INVALID_OPTIONS", "audit: expected a sink, like new MemoryAuditSink()");
    }
    const budget = options.budget === undefined ? undefined : parseBudget(options.budget);
    this.#ttlSeconds = assertSeconds(options.planTtlSeconds ?? 900, "planTtlSeconds");
    this.#maxAgeSeconds = assertSeconds(options.planMaxAgeSeconds ?? 86_400, "planMaxAgeSeconds");
    this.#ledger = new LocalLedger(budget);
    this.#issuer = new TokenIssuer({
      agent: options.agent ?? "local",
      // A policy object may have been put together by hand: its text form is checked like any other.
      policy: parsePolicy(typeof options.policy === "string" ? options.policy : JSON.stringify(options.policy)),
      budget,
      people: options.users,
      signingKey: options.signingKey,
      ttlSeconds: this.#ttlSeconds,
    });
    this.#audit = options.audit;
    this.#redact = options.redact ?? false;
    this.#clock = options.clock ?? Date.now;
  }

  /** The agent's id: the audience of the gate's tokens. */
  get agent(): string {
    return this.#issuer.agent;
  }

  /** The key that verifies the gate's tokens, for `openPlanToken` and `verifyAudit`. @throws IntentlockError `ERR_INVALID_KEY` */
  async publicKey(): Promise<PublicKey> {
    return await this.#issuer.publicKey();
  }

  /** @throws PlanError, IntentlockError `ERR_UNKNOWN_USER`, `ERR_AUDIT_WRITE`, `ERR_CLOSED`, `ERR_INVALID_CLAIMS` */
  async sign(request: SignRequest): Promise<SignedPlan> {
    this.#assertOpen();
    this.#forgetOld();
    const facts = {
      planId: randomUUID(),
      plan: parsePlan(request.plan, { tools: Object.keys(request.tools) }),
      user: toUser(request.user),
      tools: { ...request.tools },
      task: digest(request.task, "task", nodeSha256),
    };
    const signedAt = this.#now();
    const { signed, opened } = await this.#issuer.issue(facts, signedAt);
    const state: PlanState = {
      ...facts,
      signedAt,
      trail: new AuditTrail(facts.planId, { sink: this.#audit, clock: this.#clock, hash: nodeSha256 }),
      used: facts.plan.steps.map(() => 0),
      spent: { calls: 0, payoutMicros: 0 },
      open: new Map(),
      phase: "open",
      signed,
      opened,
      accepted: signed.token,
      renewal: undefined,
      closing: undefined,
    };
    await writeEvent(state.trail, { type: "plan_signed", token: signed.token });
    this.#assertOpen();
    this.#plans.set(facts.planId, state);
    return signed;
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_UNKNOWN_USER`, `ERR_AUDIT_WRITE` */
  async refresh(plan: SignedPlan): Promise<SignedPlan> {
    const state = this.#plans.get(plan.planId);
    if (state?.phase !== "open") throw unknownPlan();
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

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_INVALID_OUTCOME`, `ERR_AUDIT_WRITE`: then it can be recorded again */
  async record(outcome: Outcome): Promise<void> {
    const state = this.#plans.get(outcome.planId);
    if (!state && outcome.type === "closed" && this.#closing) return await this.#closing;
    if (!state) throw unknownPlan();
    if (outcome.type === "closed") await recordClosed(state);
    else await recordOutcome(state, outcome);
    if (state.phase === "closed" && state.open.size === 0) this.#plans.delete(state.planId);
  }

  /** Closes the plans that are open, and the audit sink. @throws IntentlockError `ERR_AUDIT_WRITE` */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const open = [...this.#plans.values()].filter(({ phase }) => phase !== "closed");
    const results = await Promise.allSettled(open.map(({ planId }) => this.record({ type: "closed", planId })));
    await this.#audit?.close?.();
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  async #decide(plan: SignedPlan, call: GateCall, reserve: boolean): Promise<Decision> {
    const started = performance.now();
    const elapsedUs = (): number => Math.round((performance.now() - started) * 1000);
    try {
      const state = this.#plans.get(plan.planId);
      const opened = state && (await this.#accepts(state, plan.token)) && (await this.#currentToken(state, reserve));
      // Looked at last: it may have been closed meanwhile.
      if (!opened || state.phase !== "open" || !this.#plans.has(state.planId)) {
        const detail = "this gate did not sign the plan, or it is closed";
        return refuseCall(call, { reason: "invalid_token", stage: "token", detail });
      }
      const now = this.#now();
      return await decideLocally(state, call, {
        opened,
        reserve,
        now,
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
    const opened = await this.#issuer.open(token);
    if (!opened.valid || opened.claims.planId !== state.planId) return false;
    state.accepted = token;
    return true;
  }

  /** The newest token, renewed in time. If that fails, `check()` says whether the one that there is still counts. */
  async #currentToken(state: PlanState, keep: boolean): Promise<OpenedToken> {
    if (this.#now() < state.signed.expiresAt - this.#ttlSeconds / 10) return state.opened;
    try {
      if (!keep) return (await this.#reissue(state)).opened;
      await this.refresh(state.signed);
    } catch {
      // Nothing to do: the old one it is.
    }
    return state.opened;
  }

  async #renew(state: PlanState): Promise<SignedPlan> {
    const { signed, opened } = await this.#reissue(state);
    if (state.phase !== "open") throw unknownPlan();
    await writeEvent(state.trail, { type: "refresh", token: signed.token });
    state.signed = signed;
    state.opened = opened;
    return signed;
  }

  async #reissue(state: PlanState): ReturnType<TokenIssuer["issue"]> {
    const now = this.#now();
    if (now >= state.signedAt + this.#maxAgeSeconds) {
      throw new IntentlockError("ERR_PLAN_EXPIRED", "The plan is too old to be renewed: start a new session");
    }
    return await this.#issuer.issue(state, now);
  }

  #now(): number {
    return Math.floor(this.#clock() / 1000);
  }

  #assertOpen(): void {
    if (this.#closing) throw new IntentlockError("ERR_CLOSED", "The gate is closed");
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

function assertSeconds(value: number, option: string): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new IntentlockError("ERR_INVALID_OPTIONS", `${option} has to be a whole number of seconds, at least 1`);
}
