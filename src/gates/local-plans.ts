import {
  type Approval,
  type ChainHead,
  type Decision,
  IntentlockError,
  type OpenedToken,
  type Spent,
} from "../core/index.ts";
import type { AuditSink } from "./audit-sink.ts";
import { AuditTrail } from "./audit-trail.ts";
import type { GateCall, GateListener, Outcome, SignedPlan, Task } from "./gate.ts";
import { type DecideOptions, decideLocally, refuseCall } from "./local-decision.ts";
import type { LocalLedger } from "./local-ledger.ts";
import { nodeSha256 } from "./node-sha256.ts";
import { openSources } from "./plan-sources.ts";
import { type PlanState, recordClosed, recordOutcome, unknownPlan, writeEvent } from "./plan-state.ts";
import type { Portions } from "./remote/portions.ts";
import type { IssuedToken, PlanFacts } from "./token-issuer.ts";

/** Who signs the plans that are decided here. */
export interface PlanSigner {
  /** A new token of a plan, with the user and the policy as they are now. @throws IntentlockError */
  renew(plan: PlanState, now: number): Promise<IssuedToken>;
  /** Opens any token. */
  open(token: string): Promise<OpenedToken>;
}

/** What became of an approval token that a call came with: its evidence, or why the call is refused. */
export type ClaimedApproval =
  | { readonly approval: Approval; readonly refusal?: undefined }
  | { readonly refusal: NonNullable<GateCall["refusal"]>; readonly approval?: undefined };

export interface LocalPlansOptions {
  readonly signer: PlanSigner;
  readonly sink: AuditSink | undefined;
  readonly redact: boolean;
  readonly ledger: LocalLedger;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Plans that were signed longer ago, and a token's life more, are forgotten. */
  readonly maxAgeSeconds: number;
  /**
   * Claims the approval that a call came with. Without it there is nobody to ask, and a held call is blocked; tokens are
   * renewed without waiting where there is somebody, who is far away.
   */
  readonly claim?: (state: PlanState, call: GateCall) => Promise<ClaimedApproval>;
  /** The portions of people's budgets, where a server keeps these. */
  readonly portions?: Pick<Portions, "of" | "prepare">;
}

export interface BeginOptions {
  /** Seconds since the epoch. */
  readonly signedAt: number;
  readonly listener: GateListener | undefined;
  /** What the user asked for. */
  readonly task: Task;
  /** Of a plan that goes on: where its chain ends, and what its calls have taken. */
  readonly earlier?: { readonly head: ChainHead; readonly used: readonly number[]; readonly spent: Spent };
}

/** The plans that are decided in this process, whoever has signed them: their tokens, their counts and their records. */
export class LocalPlans {
  readonly #options: LocalPlansOptions;
  /** In the order in which they were signed: the open ones, and closed ones whose calls still run. */
  readonly #plans = new Map<string, PlanState>();

  constructor(options: LocalPlansOptions) {
    this.#options = options;
  }

  /** A plan that was just signed, its signing on record, or one that goes on. It counts once {@link open} was called. */
  async begin(
    facts: PlanFacts,
    { signed, opened }: IssuedToken,
    { signedAt, listener, task, earlier }: BeginOptions,
  ): Promise<PlanState> {
    const { sink, clock } = this.#options;
    const { head, used = facts.plan.steps.map(() => 0), spent = { calls: 0, payoutMicros: 0 } } = earlier ?? {};
    const state: PlanState = {
      ...facts,
      signedAt,
      listener,
      trail: new AuditTrail(facts.planId, { sink, clock, hash: nodeSha256, head }),
      used: [...used],
      spent: { ...spent },
      open: new Map(),
      // Of a plan that goes on in the same process, what its calls have given is still here.
      sources: this.#plans.get(facts.planId)?.sources ?? openSources(facts.plan, task),
      phase: "open",
      signed,
      opened,
      accepted: signed.token,
      renewal: undefined,
      closing: undefined,
      refusal: undefined,
    };
    await writeEvent(state.trail, { type: earlier ? "refresh" : "plan_signed", token: signed.token });
    return state;
  }

  open(state: PlanState): void {
    this.#forgetOld();
    this.#plans.set(state.planId, state);
  }

  get(planId: string): PlanState | undefined {
    return this.#plans.get(planId);
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_AUDIT_WRITE`, and what the signer throws */
  async refresh(planId: string): Promise<SignedPlan> {
    const state = this.#plans.get(planId);
    if (state?.phase !== "open") throw unknownPlan();
    return await this.#renewOnce(state);
  }

  /** Never rejects. @param reserve take what the call takes, and record the decision */
  async decide(plan: SignedPlan, call: GateCall, reserve: boolean): Promise<Decision> {
    const started = performance.now();
    const elapsedUs = (): number => Math.round((performance.now() - started) * 1000);
    try {
      const state = this.#plans.get(plan.planId);
      const opened = state && (this.#openNow(state, plan.token) ?? (await this.#open(state, plan.token, reserve)));
      const { claim, ledger, redact, portions } = this.#options;
      const isClaimed = opened && reserve && typeof call.approval === "string";
      const claimed = isClaimed ? await claim?.(state, call) : undefined;
      const approval = claimed?.approval;
      const holds = claim !== undefined;
      const decideNow = (opened: OpenedToken, over: Pick<DecideOptions, "reserve" | "refusal">) => {
        const reserved = portions?.of(plan.planId);
        const basis = { opened, reserved, now: this.#now(), ledger, redact, elapsedUs, holds, approval };
        return decideLocally(state as PlanState, call, { ...basis, ...over });
      };
      let refusal: GateCall["refusal"];
      while (opened && portions) {
        const isOut = (): boolean => isOutOfBudget(decideNow(opened, { reserve: false, refusal: call.refusal }));
        const asked = portions.prepare(state, opened, { call, isOut });
        if (!asked) break;
        const answer = await asked;
        if (answer === "ask again") continue;
        refusal = answer;
        break;
      }
      // Looked at last: it may have been closed meanwhile.
      if (!opened || state.phase !== "open" || !this.#plans.has(state.planId)) {
        const detail = "this gate did not sign the plan, or it is closed";
        return refuseCall(call, { reason: "invalid_token", stage: "token", detail });
      }
      refusal = call.refusal ?? state.refusal ?? claimed?.refusal ?? refusal;
      return await decideNow(opened, { reserve, refusal });
    } catch {
      return refuseCall(call, { reason: "internal_error", stage: "gate", detail: "an error happened while deciding" });
    }
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_INVALID_OUTCOME`, `ERR_AUDIT_WRITE` */
  async record(outcome: Outcome): Promise<void> {
    const state = this.#plans.get(outcome.planId);
    if (!state) throw unknownPlan();
    if (outcome.type === "closed") await recordClosed(state);
    else await recordOutcome(state, outcome);
    if (state.phase === "closed" && state.open.size === 0) this.#plans.delete(state.planId);
  }

  /** Closes all that are open, but those that go on later. @throws IntentlockError `ERR_AUDIT_WRITE`, once all were tried */
  async closeAll(goesOn: (planId: string) => boolean = () => false): Promise<void> {
    const open = [...this.#plans.values()].filter(({ planId, phase }) => phase !== "closed" && !goesOn(planId));
    const results = await Promise.allSettled(open.map(({ planId }) => this.record({ type: "closed", planId })));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  /** The newest token, if there is nothing to wait for: as for nearly every call. */
  #openNow({ accepted, signed, opened }: PlanState, token: string): OpenedToken | undefined {
    const isTheirs = token === accepted || token === signed.token;
    return isTheirs && !isDue(signed, opened, this.#now()) ? opened : undefined;
  }

  async #open(state: PlanState, token: string, reserve: boolean): Promise<OpenedToken | undefined> {
    return (await this.#accepts(state, token)) ? await this.#currentToken(state, reserve) : undefined;
  }

  /** Whether a token is one of this plan's. Its signature is verified once. */
  async #accepts(state: PlanState, token: string): Promise<boolean> {
    if (token === state.accepted || token === state.signed.token) return true;
    const opened = await this.#options.signer.open(token);
    if (!opened.valid || opened.claims.planId !== state.planId) return false;
    state.accepted = token;
    return true;
  }

  /** The newest token, renewed in time. If that fails, `check()` says whether the one that there is still counts. */
  async #currentToken(state: PlanState, keep: boolean): Promise<OpenedToken> {
    const { signed, opened } = state;
    const now = this.#now();
    if (!isDue(signed, opened, now)) return opened;
    // Far away: who signs is not waited for while the token that there is still counts, nor asked for a mere look.
    if (this.#options.claim && now < signed.expiresAt) {
      if (keep) this.#renewOnce(state).catch(() => undefined);
      return opened;
    }
    const renewed = keep ? this.#renewOnce(state) : this.#options.signer.renew(state, now);
    try {
      const result = await renewed;
      return "opened" in result ? result.opened : state.opened;
    } catch {
      return state.opened;
    }
  }

  #renewOnce(state: PlanState): Promise<SignedPlan> {
    state.renewal ??= this.#renew(state).finally(() => {
      state.renewal = undefined;
    });
    return state.renewal;
  }

  async #renew(state: PlanState): Promise<SignedPlan> {
    const { signed, opened } = await this.#options.signer.renew(state, this.#now());
    if (state.phase !== "open") throw unknownPlan();
    await writeEvent(state.trail, { type: "refresh", token: signed.token });
    state.signed = signed;
    state.opened = opened;
    return signed;
  }

  #now(): number {
    return Math.floor(this.#options.clock() / 1000);
  }

  /** Plans that nobody closed and that can no longer be renewed. */
  #forgetOld(): void {
    const now = this.#now();
    for (const [planId, { signedAt, opened }] of this.#plans) {
      if (signedAt >= now - this.#options.maxAgeSeconds - ttlOf(opened)) break;
      this.#plans.delete(planId);
    }
  }
}

function isOutOfBudget(decision: Decision | Promise<Decision>): boolean {
  return "verdict" in decision && decision.verdict === "block" && decision.reason === "budget_exhausted";
}

/** Whether it is time for another token. */
function isDue({ expiresAt }: SignedPlan, opened: OpenedToken, now: number): boolean {
  return now >= expiresAt - ttlOf(opened) / 10;
}

/** How long a token counts, in seconds. */
function ttlOf(token: OpenedToken): number {
  return token.valid ? token.claims.exp - token.claims.iat : 0;
}

/** @throws IntentlockError `ERR_PLAN_EXPIRED` for a plan that is too old for another token */
export function assertRenewable(signedAt: number, now: number, maxAgeSeconds: number): void {
  if (now < signedAt + maxAgeSeconds) return;
  throw new IntentlockError("ERR_PLAN_EXPIRED", "The plan is too old to be renewed: start a new session");
}
