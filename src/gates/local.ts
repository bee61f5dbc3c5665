import { randomUUID } from "node:crypto";
import { parseBudget } from "../core/budget.ts";
import {
  type Budget,
  type Decision,
  digest,
  type HoldDecision,
  IntentlockError,
  type Policy,
  PolicyError,
  type PublicKey,
  parsePlan,
  parsePolicy,
  type SigningKey,
} from "../core/index.ts";
import type { AuditSink } from "./audit-sink.ts";
import type { Gate, GateCall, HoldResolution, Outcome, SignedPlan, SignRequest } from "./gate.ts";
import { LocalLedger } from "./local-ledger.ts";
import { assertRenewable, LocalPlans } from "./local-plans.ts";
import { nodeSha256 } from "./node-sha256.ts";
import { type People, toUser } from "./people.ts";
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
  readonly #clock: () => number;
  readonly #plans: LocalPlans;
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
    const maxAgeSeconds = assertSeconds(options.planMaxAgeSeconds ?? 86_400, "planMaxAgeSeconds");
    const issuer = new TokenIssuer({
      agent: options.agent ?? "local",
      // A policy object may have been put together by hand: its text form is checked like any other.
      policy: parsePolicy(typeof options.policy === "string" ? options.policy : JSON.stringify(options.policy)),
      budget,
      people: options.users,
      signingKey: options.signingKey,
      ttlSeconds: assertSeconds(options.planTtlSeconds ?? 900, "planTtlSeconds"),
    });
    this.#issuer = issuer;
    this.#audit = options.audit;
    this.#clock = options.clock ?? Date.now;
    this.#plans = new LocalPlans({
      signer: {
        renew: async (plan, now) => {
          assertRenewable(plan.signedAt, now, maxAgeSeconds);
          return await issuer.issue(plan, now);
        },
        open: (token) => issuer.open(token),
      },
      sink: options.audit,
      redact: options.redact ?? false,
      ledger: new LocalLedger(budget),
      clock: this.#clock,
      maxAgeSeconds,
    });
  }

  /** The agent's id: the audience of the gate's tokens. */
  get agent(): string {
    return this.#issuer.agent;
  }

  /** The key that verifies the gate's tokens, for `openPlanToken` and `verifyAudit`. @throws IntentlockError `ERR_INVALID_KEY` */
  async publicKey(): Promise<PublicKey> {
    return await this.#issuer.publicKey();
  }

  /** @throws PlanError, IntentlockError `ERR_UNKNOWN_USER`, `ERR_AUDIT_WRITE`, `ERR_CLOSED`, `ERR_INVALID_CLAIMS`, `ERR_HOLD_UNSUPPORTED` */
  async sign(request: SignRequest): Promise<SignedPlan> {
    this.#assertOpen();
    if (request.approvePlan) throw nobodyToAsk();
    const { task, listener } = request;
    const facts = {
      planId: randomUUID(),
      plan: parsePlan(request.plan, { tools: Object.keys(request.tools) }),
      user: toUser(request.user),
      tools: { ...request.tools },
      task: digest(task, "task", nodeSha256),
    };
    const signedAt = Math.floor(this.#clock() / 1000);
    const issued = await this.#issuer.issue(facts, signedAt);
    const state = await this.#plans.begin(facts, issued, { signedAt, listener, task });
    this.#assertOpen();
    this.#plans.open(state);
    return issued.signed;
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_UNKNOWN_USER`, `ERR_AUDIT_WRITE` */
  async refresh(plan: SignedPlan): Promise<SignedPlan> {
    return await this.#plans.refresh(plan.planId);
  }

  async check(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.#plans.decide(plan, call, true);
  }

  async peek(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.#plans.decide(plan, call, false);
  }

  /** @throws IntentlockError `ERR_HOLD_UNSUPPORTED` always: `check` has blocked every call that a rule holds */
  async awaitHold(_hold: HoldDecision, _options: { readonly timeoutMs: number }): Promise<HoldResolution> {
    throw nobodyToAsk();
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_INVALID_OUTCOME`, `ERR_AUDIT_WRITE`: then it can be recorded again */
  async record(outcome: Outcome): Promise<void> {
    if (this.#closing && outcome.type === "closed" && !this.#plans.get(outcome.planId)) return await this.#closing;
    await this.#plans.record(outcome);
  }

  /** Closes the plans that are open, and the audit sink. @throws IntentlockError `ERR_AUDIT_WRITE` */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    try {
      await this.#plans.closeAll();
    } finally {
      await this.#audit?.close?.();
    }
  }

  #assertOpen(): void {
    if (this.#closing) throw new IntentlockError("ERR_CLOSED", "The gate is closed");
  }
}

function nobodyToAsk(): IntentlockError {
  return new IntentlockError(
    "ERR_HOLD_UNSUPPORTED",
    "A LocalGate has nobody to ask: use a gate with a server for holds",
  );
}

function assertSeconds(value: number, option: string): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new IntentlockError("ERR_INVALID_OPTIONS", `${option} has to be a whole number of seconds, at least 1`);
}
