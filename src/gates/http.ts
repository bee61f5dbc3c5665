import { answersCall, endpoints, outcomeSchema } from "../core/api/index.ts";
import { isNamed } from "../core/call.ts";
import { type CallSnapshot, snapshotCall } from "../core/decided-call.ts";
import { type Decision, type HoldDecision, IntentlockError } from "../core/index.ts";
import { blockDecision, nameCall } from "../core/verdict.ts";
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
import { nodeSha256 } from "./node-sha256.ts";
import { toGateError } from "./remote/gate-error.ts";
import { HeldCalls } from "./remote/held-calls.ts";
import { Leases } from "./remote/leases.ts";
import { ServerClient, type ServerClientOptions } from "./remote/server-client.ts";
import { ServerClock } from "./remote/server-clock.ts";
import { ServerError, toRefusal } from "./remote/server-error.ts";
import { assertAnswers, refreshPlan, signPlan } from "./remote/sign-plan.ts";
import { codeOf, tell } from "./remote/tell.ts";
import { toWireOutcome, WantedResults } from "./remote/wanted-results.ts";

export interface HttpGateOptions extends ServerClientOptions {
  /** The longest wait for a person who has to see a plan before it is signed, in milliseconds. Default: 300,000. */
  readonly planTimeoutMs?: number | undefined;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

interface OpenPlan {
  /** Who hears of trouble. */
  readonly listener: GateListener | undefined;
  readonly wanted: WantedResults;
}

/**
 * The server decides and counts every call. Without it nothing is allowed.
 *
 * @example
 * import { HttpGate } from "intentlock/gates";
 *
 * const gate = new HttpGate({ baseUrl: "https://intentlock.acme.dev", apiKey });
 */
export class HttpGate implements Gate {
  readonly #client: ServerClient;
  readonly #clock: ServerClock;
  readonly #planTimeoutMs: number;
  /** The plans that this gate has signed and not closed. */
  readonly #open = new Map<string, OpenPlan>();
  readonly #held: HeldCalls;
  readonly #leases: Leases;
  #closing: Promise<void> | undefined;

  /** @throws IntentlockError `ERR_INVALID_OPTIONS` */
  constructor(options: HttpGateOptions) {
    this.#client = new ServerClient(options);
    this.#clock = new ServerClock(options.clock ?? Date.now);
    this.#planTimeoutMs = options.planTimeoutMs ?? 300_000;
    this.#held = new HeldCalls(this.#client);
    this.#leases = new Leases(this.#client);
  }

  /** @throws PlanError; IntentlockError `ERR_UNKNOWN_USER`, `ERR_PLAN_REJECTED`, `ERR_CLOSED`; ServerError */
  async sign(request: SignRequest): Promise<SignedPlan> {
    this.#assertOpen();
    const signer = { client: this.#client, clock: this.#clock, planTimeoutMs: this.#planTimeoutMs };
    const signed = toSigned(await signPlan(signer, request));
    this.#open.set(signed.planId, { listener: request.listener, wanted: new WantedResults(signed.plan) });
    // The gate was closed meanwhile, and knew nothing of this plan.
    if (this.#closing) await this.record({ type: "closed", planId: signed.planId });
    this.#assertOpen();
    return signed;
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_PLAN_REVOKED`, `ERR_UNKNOWN_USER`; ServerError */
  async refresh({ planId }: SignedPlan): Promise<SignedPlan> {
    const listener = this.#open.get(planId)?.listener;
    const signer = { client: this.#client, clock: this.#clock };
    return toSigned(await refreshPlan(signer, planId, listener ? { listener } : {}));
  }

  async check(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.#ask(plan, call, false);
  }

  async peek(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.#ask(plan, call, true);
  }

  /** @throws IntentlockError `ERR_HOLD` for a decision that this gate has not given; the signal's reason */
  async awaitHold(
    hold: HoldDecision,
    options: { readonly signal?: AbortSignal; readonly timeoutMs: number },
  ): Promise<HoldResolution> {
    return await this.#held.await(hold, async () => undefined, options);
  }

  /** @throws IntentlockError `ERR_HOLD` for a decision that this gate has not given */
  async openHold(hold: HoldDecision): Promise<OpenedHold> {
    const opened = await this.#held.open(hold, async () => undefined);
    // The run may end here: it goes on wherever the person's answer finds it.
    if (opened.status === "pending") await this.#leases.release(hold.planId);
    return opened;
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_PLAN_EXPIRED`, `ERR_PLAN_REVOKED`, `ERR_PLAN_HELD` if somebody else works on it, `ERR_INVALID_CLAIMS` for an answer about another plan; ServerError */
  async resume(
    planId: string,
    { listener }: { readonly listener?: GateListener | undefined } = {},
  ): Promise<SignedPlan> {
    this.#assertOpen();
    const ask = { params: { planId }, body: { holder: this.#leases.holder }, isRepeatable: true };
    try {
      const answer = await this.#clock.learn(() => this.#client.ask(endpoints.resumePlan, ask), listener);
      assertAnswers(answer, planId);
      this.#leases.keep(planId, { leaseUntil: answer.leaseUntil, now: answer.serverTime });
      if (this.#closing) await this.#leases.release(planId);
      this.#assertOpen();
      this.#held.resume(planId, answer.openHolds);
      const wanted = this.#open.get(planId)?.wanted ?? new WantedResults(answer.plan);
      this.#open.set(planId, { listener, wanted });
      return toSigned(answer);
    } catch (error) {
      throw toGateError(error);
    }
  }

  /** @throws IntentlockError `ERR_UNKNOWN_PLAN`, `ERR_INVALID_OUTCOME`; ServerError: then it can be recorded again */
  async record(outcome: Outcome): Promise<void> {
    if (!outcomeSchema.safeParse(outcome).success) {
      throw new IntentlockError("ERR_INVALID_OUTCOME", "This is not the outcome of a call");
    }
    const wanted = this.#open.get(outcome.planId)?.wanted;
    try {
      const body = { outcome: toWireOutcome(outcome, wanted) };
      await this.#client.ask(endpoints.recordOutcome, { body, isRepeatable: true });
      if (outcome.type === "outcome") wanted?.settle(outcome);
    } catch (error) {
      throw toGateError(error);
    } finally {
      if (outcome.type === "closed") this.#forget(outcome.planId);
    }
  }

  /** Closes the plans that are open and have no suspended call. @throws ServerError once all were tried */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  #forget(planId: string): void {
    this.#open.delete(planId);
    this.#held.forget(planId);
    this.#leases.drop(planId);
  }

  #assertOpen(): void {
    if (this.#closing) throw new IntentlockError("ERR_CLOSED", "The gate is closed");
  }

  async #closeAll(): Promise<void> {
    this.#leases.dropAll();
    const over = [...this.#open.keys()].filter((planId) => !this.#held.waits(planId));
    const closed = over.map((planId) => this.record({ type: "closed", planId }));
    for (const result of await Promise.allSettled(closed)) {
      // What the server does not know as open needs no closing.
      if (result.status === "rejected" && result.reason instanceof ServerError) throw result.reason;
    }
  }

  async #ask(plan: SignedPlan, given: GateCall, peek: boolean): Promise<Decision> {
    const started = performance.now();
    const call = snapshotCall(given, nodeSha256);
    // Whatever a caller takes for a plan.
    const { planId = "", token = "" } = (plan ?? {}) as Partial<SignedPlan>;
    try {
      const body = { planId, token, call: toWire(call, given), ...(peek && { peek }) };
      const { decision } = await this.#client.ask(endpoints.check, { body });
      if (!answersCall(decision, { callId: call.callId, tool: call.tool, planId, digest: call.digest, peek })) {
        throw new ServerError(
          "ERR_SERVER_UNAVAILABLE",
          "The server's decision is not about the call that was asked about",
        );
      }
      const elapsedUs = Math.round((performance.now() - started) * 1000);
      const timed = Object.freeze({ ...decision, elapsedUs });
      if (timed.verdict === "hold") this.#held.add(timed, call.args);
      this.#open.get(planId)?.wanted.add(timed);
      return timed;
    } catch (error) {
      const name = nameCall(call, planId);
      if (error instanceof ServerError && error.problem?.code === "not_found") {
        const detail = "the server did not sign the plan, or it is another agent's";
        return Object.freeze(blockDecision(name, { reason: "invalid_token", stage: "token", detail }));
      }
      const message = error instanceof Error ? error.message : "The server could not be asked";
      tell(this.#open.get(planId)?.listener, { code: codeOf(error), message, cause: error });
      return Object.freeze(blockDecision(name, toRefusal(error)));
    }
  }
}

function toSigned({ planId, plan, token, expiresAt }: SignedPlan): SignedPlan {
  return Object.freeze({ planId, plan, token, expiresAt });
}

/** What cannot travel as it is goes as a call that is not well-formed: the server decides so, and has it on record. */
function toWire(call: CallSnapshot, { approval, refusal }: GateCall): GateCall {
  const { callId, tool, args, fingerprint, digest } = call;
  const more = { ...(typeof approval === "string" && { approval }), ...(refusal && { refusal }) };
  if (!isNamed({ callId, tool, fingerprint }))
    return { callId: nameCall(call, "").callId, tool: "", args: {}, ...more };
  return {
    callId,
    tool,
    args: digest === undefined ? undefined : args,
    ...(fingerprint !== undefined && { fingerprint }),
    ...more,
  };
}
