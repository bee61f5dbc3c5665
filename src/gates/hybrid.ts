import { endpoints } from "../core/api/index.ts";
import {
  type Decision,
  generateSigningKey,
  type HoldDecision,
  IntentlockError,
  type PublicKey,
} from "../core/index.ts";
import type {
  Gate,
  GateCall,
  GateListener,
  HoldResolution,
  OpenedHold,
  Outcome,
  SignedPlan,
  SignRequest,
} from "./gate.ts";
import { LocalLedger } from "./local-ledger.ts";
import { LocalPlans } from "./local-plans.ts";
import type { Outbox } from "./outbox/index.ts";
import { claimApproval } from "./remote/claim-approval.ts";
import { toGateError } from "./remote/gate-error.ts";
import { GateOutbox } from "./remote/gate-outbox.ts";
import { HeldCalls } from "./remote/held-calls.ts";
import { KeySet } from "./remote/key-set.ts";
import { Leases } from "./remote/leases.ts";
import { Portions } from "./remote/portions.ts";
import { ServerClient, type ServerClientOptions } from "./remote/server-client.ts";
import { ServerClock } from "./remote/server-clock.ts";
import { toRefusal } from "./remote/server-error.ts";
import { assertSigned, ServerTokens, toFacts } from "./remote/server-tokens.ts";
import { assertAnswers, refreshPlan, signPlan } from "./remote/sign-plan.ts";
import { codeOf, tell } from "./remote/tell.ts";
import { uploadBatch } from "./remote/upload-batch.ts";
import type { IssuedToken, PlanFacts } from "./token-issuer.ts";

export interface HybridGateOptions extends ServerClientOptions {
  /** The file of the outbox, or one that is open: then it stays open. Default: `.intentlock/outbox.db`. */
  readonly outbox?: string | Outbox | undefined;
  /** Leave the arguments of calls out of the audit entries. Their decisions cannot be recomputed then. */
  readonly redact?: boolean | undefined;
  /** The server's public keys, if they are to be pinned. Default: those that it publishes under `baseUrl`. */
  readonly keys?: readonly PublicKey[] | undefined;
  /** The longest wait for a person who has to see a plan before it is signed, in milliseconds. Default: 300,000. */
  readonly planTimeoutMs?: number | undefined;
  /** How long `close` uploads what waits, in milliseconds. Default: 5,000. */
  readonly closeTimeoutMs?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. Decisions go by the server's, as far as it is known. */
  readonly clock?: (() => number) | undefined;
}

/** Renewal is the server's to refuse; a plan that nobody closes is forgotten after so long. */
const MAX_AGE_SECONDS = 604_800;

/**
 * The server signs plans and asks people; calls are decided here, without waiting for it. Every decision is on the disk
 * of this machine before it counts, and goes to the server in the background.
 *
 * @example
 * import { HybridGate } from "intentlock/gates";
 *
 * const gate = new HybridGate({ baseUrl: "https://intentlock.acme.dev", apiKey });
 */
export class HybridGate implements Gate {
  readonly #options: HybridGateOptions;
  readonly #client: ServerClient;
  readonly #clock: ServerClock;
  readonly #keys: KeySet;
  readonly #plans: LocalPlans;
  readonly #outbox: GateOutbox;
  readonly #tokens: ServerTokens;
  readonly #held: HeldCalls;
  readonly #leases: Leases;
  readonly #portions: Portions;
  #closing: Promise<void> | undefined;

  /** @throws IntentlockError `ERR_INVALID_OPTIONS` */
  constructor(options: HybridGateOptions) {
    this.#client = new ServerClient(options);
    this.#options = options;
    this.#clock = new ServerClock(options.clock ?? Date.now);
    this.#keys = new KeySet(this.#client, options.keys);
    this.#tokens = new ServerTokens(this.#keys);
    this.#outbox = new GateOutbox(options.outbox);
    this.#held = new HeldCalls(this.#client);
    this.#leases = new Leases(this.#client);
    this.#portions = new Portions(this.#client);
    this.#plans = new LocalPlans({
      signer: { renew: (plan) => this.#renew(plan), open: (token) => this.#tokens.open(token) },
      sink: this.#outbox,
      redact: options.redact ?? false,
      ledger: new LocalLedger(undefined),
      clock: () => this.#clock.now(),
      maxAgeSeconds: MAX_AGE_SECONDS,
      portions: this.#portions,
      claim: async ({ planId }, call) =>
        await claimApproval({ client: this.#client, keys: this.#keys, agent: this.#tokens.agent }, planId, call),
    });
  }

  /**
   * @throws PlanError; IntentlockError `ERR_UNKNOWN_USER`, `ERR_PLAN_REJECTED`, `ERR_OUTBOX`, `ERR_AUDIT_WRITE`,
   * `ERR_CLOSED`; ServerError
   */
  async sign(request: SignRequest): Promise<SignedPlan> {
    this.#assertOpen();
    // Before anything is signed: without it nothing will be decided.
    const outbox = await this.#outbox.open();
    const key = await generateSigningKey();
    const signer = {
      client: this.#client,
      clock: this.#clock,
      planTimeoutMs: this.#options.planTimeoutMs ?? 300_000,
    };
    const answer = await signPlan(signer, request, key.publicKey);
    const issued = await this.#tokens.receive(answer);
    assertSigned(issued, request, key.publicKey);
    const { claims } = issued.opened;
    const facts = toFacts(issued);
    const { planId } = facts;
    this.#startUpload();
    await outbox.begin({ planId, upload: true, target: this.#target, clientKey: key.privateKey });
    const { listener, task } = request;
    const state = await this.#plans.begin(facts, issued, { signedAt: claims.iat, listener, task });
    this.#assertOpen();
    this.#plans.open(state);
    return issued.signed;
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_PLAN_REVOKED`, `ERR_UNKNOWN_USER`, `ERR_AUDIT_WRITE`; ServerError */
  async refresh({ planId }: SignedPlan): Promise<SignedPlan> {
    return await this.#plans.refresh(planId);
  }

  async check(plan: SignedPlan, call: GateCall): Promise<Decision> {
    const decision = await this.#plans.decide(plan, call, true);
    if (decision.verdict === "hold") this.#held.add(decision, call.args);
    return decision;
  }

  async peek(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.#plans.decide(plan, call, false);
  }

  /** @throws IntentlockError `ERR_HOLD` for a decision that this gate has not given; the signal's reason */
  async awaitHold(
    hold: HoldDecision,
    options: { readonly signal?: AbortSignal; readonly timeoutMs: number },
  ): Promise<HoldResolution> {
    return await this.#held.await(hold, () => this.#outbox.flushHold(hold, options.timeoutMs), options);
  }

  /** @throws IntentlockError `ERR_HOLD` for a decision that this gate has not given */
  async openHold(hold: HoldDecision): Promise<OpenedHold> {
    const opened = await this.#held.open(hold, () => this.#outbox.flushHold(hold));
    // The run may end here: it goes on wherever the person's answer finds it.
    if (opened.status === "pending") await this.#leases.release(hold.planId);
    return opened;
  }

  /**
   * Goes on with a plan: on the machine that it was signed on, with what its outbox has, and elsewhere with what the server
   * has. Results of calls that another process has made are gone: a `from` that names their step does not match.
   *
   * @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_PLAN_REVOKED`, `ERR_PLAN_HELD` if somebody else
   * works on it, `ERR_AUDIT_UPLOAD` if the server lacks entries that are here, `ERR_AUDIT_WRITE`; ServerError
   */
  async resume(
    planId: string,
    { listener }: { readonly listener?: GateListener | undefined } = {},
  ): Promise<SignedPlan> {
    this.#assertOpen();
    try {
      const outbox = await this.#outbox.open();
      const known = { params: { planId }, isRepeatable: true };
      const found = await this.#client.ask(endpoints.getPlan, known);
      assertAnswers(found, planId);
      this.#tokens.learnAgent(found.agentId);
      this.#startUpload();
      const local = await outbox.plan(planId);
      if (local) await this.#outbox.flush(planId);
      const key = local?.clientKey ?? (await generateSigningKey()).privateKey;
      const { d: _, ...clientKey } = key;
      const body = { holder: this.#leases.holder, clientKey };
      const ask = { params: { planId }, body, isRepeatable: true };
      const answer = await this.#clock.learn(() => this.#client.ask(endpoints.resumePlan, ask), listener);
      assertAnswers(answer, planId);
      const head = { planId, seq: answer.seq, prev: answer.head };
      if (local && (local.head.seq !== head.seq || local.head.prev !== head.prev)) {
        throw new IntentlockError("ERR_AUDIT_UPLOAD", "The server does not have what the outbox has of this plan");
      }
      const issued = await this.#tokens.receive(answer);
      const facts = toFacts(issued);
      const begun = { planId, upload: true, target: this.#target, clientKey: key, base: head };
      if (!local) await outbox.begin(begun);
      const earlier = { head, used: answer.used, spent: answer.spent };
      const signedAt = issued.opened.claims.iat;
      const state = await this.#plans.begin(facts, issued, { signedAt, listener, task: found.task, earlier });
      this.#leases.keep(planId, { leaseUntil: answer.leaseUntil, now: answer.serverTime });
      if (this.#closing) await this.#leases.release(planId);
      this.#assertOpen();
      this.#held.resume(planId, answer.openHolds);
      this.#plans.open(state);
      return issued.signed;
    } catch (error) {
      throw toGateError(error);
    }
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_INVALID_OUTCOME`, `ERR_AUDIT_WRITE`: then it can be recorded again */
  async record(outcome: Outcome): Promise<void> {
    if (this.#closing && outcome.type === "closed" && !this.#plans.get(outcome.planId)) return await this.#closing;
    await this.#plans.record(outcome);
    if (outcome.type === "closed") this.#forget(outcome.planId);
  }

  /**
   * Closes the plans that are open and have no suspended call, and uploads what waits for as long as it may take.
   *
   * @throws IntentlockError `ERR_AUDIT_WRITE`
   */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  #forget(planId: string): void {
    this.#held.forget(planId);
    this.#leases.drop(planId);
    this.#portions.forget(planId);
  }

  async #closeAll(): Promise<void> {
    this.#leases.dropAll();
    try {
      await this.#plans.closeAll((planId) => this.#held.waits(planId));
    } finally {
      await this.#outbox.close(this.#options.closeTimeoutMs);
    }
  }

  async #renew({
    planId,
    listener,
  }: PlanFacts & { readonly listener: GateListener | undefined }): Promise<IssuedToken> {
    try {
      const signer = { client: this.#client, clock: this.#clock };
      return await this.#tokens.receive(await refreshPlan(signer, planId, listener ? { listener } : {}));
    } catch (error) {
      const state = this.#plans.get(planId);
      const isRevoked = error instanceof IntentlockError && error.code === "ERR_PLAN_REVOKED";
      const isOut = error instanceof IntentlockError && error.code === "ERR_API_KEY_REJECTED";
      if (isRevoked && state) state.refusal = { reason: "plan_revoked", stage: "gate", detail: "the plan was revoked" };
      if (isOut && state) state.refusal = toRefusal(error);
      this.#tell(planId, error);
      throw error;
    }
  }

  get #target(): string {
    return `${this.#client.baseUrl} ${this.#tokens.agent}`;
  }

  /** Once it is known whose key it is. */
  #startUpload(): void {
    const receiver = { client: this.#client, keys: this.#keys, agent: this.#tokens.agent };
    this.#outbox.startUpload({
      target: this.#target,
      send: async (batch, { signal }) => await uploadBatch(receiver, batch, signal),
      onTrouble: ({ planId, error }) => this.#tell(planId, error),
    });
  }

  #tell(planId: string | undefined, cause: unknown): void {
    const listener = planId === undefined ? undefined : this.#plans.get(planId)?.listener;
    const message = cause instanceof Error ? cause.message : "The server could not be asked";
    tell(listener, { code: codeOf(cause), message, cause });
  }

  #assertOpen(): void {
    if (this.#closing) throw new IntentlockError("ERR_CLOSED", "The gate is closed");
  }
}
