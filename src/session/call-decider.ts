import {
  type AllowDecision,
  type BlockDecision,
  type BlockReason,
  createStepResults,
  type Decision,
  type HoldDecision,
  type Json,
  type JsonObject,
  type OutcomeStatus,
  type StepResults,
} from "../core/index.ts";
import { isJsonObject } from "../core/json.ts";
import { type Block, blockDecision } from "../core/verdict.ts";
import type { Gate, GateCall, HoldResolution, OpenedHold, SignedPlan } from "../gates/gate.ts";
import { emit, type SessionListener } from "./events.ts";
import { ABORTED, prepareCall } from "./prepare-call.ts";
import type { SessionTool } from "./session-tool.ts";

/** A tool call as an adapter hands it over. All but the signal may be written by an attacker. */
export interface SessionCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: unknown;
  /** The framework has parsed the arguments with the tool's schema, and the tool gets what came of that. */
  readonly isParsed?: boolean | undefined;
  /** Of the tool that would run; of the tool that the session began with if it is not given. */
  readonly fingerprint?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * For frameworks that run a step again, as LangGraph does after a resume: the step's name, from the framework and not
   * from the model. A call that gave a result under the same name, id and content gets that result, and one that its tool
   * suspended goes on under the decision that it has; neither counts or is recorded again.
   */
  readonly replayKey?: string | undefined;
  /** Why the adapter does not let the call through, whatever the plan says. It is blocked, and on record. */
  readonly refusal?: { readonly reason: BlockReason; readonly detail: string } | undefined;
}

/** A call that has been read once. What its arguments would say at a second reading is nobody's business. */
export interface PendingCall extends Omit<SessionCall, "args"> {
  /** Frozen; undefined if they are not JSON. */
  readonly args: Json | undefined;
  /** Why the arguments are not JSON. */
  readonly problem?: string | undefined;
  /** Another call is in flight under the same id. */
  readonly clashes: boolean;
}

/** What a decided call may do: run the tool with these arguments, or nothing. */
export type Admission =
  | { readonly decision: AllowDecision; readonly args: JsonObject; readonly hold?: undefined }
  | { readonly decision: BlockDecision; readonly args?: undefined; readonly hold?: undefined }
  | { readonly decision: HoldDecision; readonly args?: undefined; readonly hold: PendingHold };

/** A person was asked about the call, and has not answered yet. */
export interface PendingHold {
  readonly holdId: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** What becomes of a held call: it waits in place, or it ends and is made again in a run that goes on later. */
export type OnHold = "wait" | "suspend";

export interface SessionParts {
  readonly gate: Gate;
  readonly signed: SignedPlan;
  readonly tools: ReadonlyMap<string, SessionTool>;
  readonly fingerprints: Readonly<Record<string, string>>;
  readonly onHold: OnHold;
  readonly holdTimeoutMs: number;
  readonly onEvent: SessionListener | undefined;
  readonly signal: AbortSignal | undefined;
}

/** How a call has ended, beside its status. */
export interface CallEnd {
  readonly durationMs?: number | undefined;
  /** What the tool said. Asked for only if the call was `ok`, and a `from` of the plan names the step that allowed it. */
  readonly result?: (() => unknown) | undefined;
}

/** Takes a call from its arguments to its decision, waits for people, and tells gate and listener what happened. */
export class CallDecider {
  readonly #parts: SessionParts;
  /** Asked only which steps' results the plan wants: they are kept where it is decided. */
  #wanted: Pick<StepResults, "wants"> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Never rejects: trouble of any kind is a block. */
  async decide(call: PendingCall): Promise<Admission> {
    let admission: Admission;
    try {
      admission = await this.#decide(call);
    } catch (cause) {
      this.#tellError("A call could not be decided", cause);
      admission = { decision: this.#failClosed(call) };
    }
    if (admission.decision.verdict !== "hold") this.#tell(admission.decision);
    return admission;
  }

  /** What `decide` would start with. Nothing is taken, recorded or told. Never rejects. */
  async peek(call: PendingCall): Promise<Decision> {
    try {
      return await this.#ask("peek", await this.#prepare(call));
    } catch {
      return this.#failClosed(call);
    }
  }

  /** Records what became of an allowed call. Trouble is told to the listener: the tool has run all the same. */
  async settle(decision: AllowDecision, status: OutcomeStatus, end: CallEnd = {}): Promise<void> {
    const { planId, seq: decisionSeq } = decision;
    const { durationMs } = end;
    if (decisionSeq === undefined) return;
    const result = status === "ok" ? this.#readResult(decision, end) : undefined;
    try {
      await this.#parts.gate.record({
        type: "outcome",
        planId,
        decisionSeq,
        status,
        ...(durationMs !== undefined && { durationMs }),
        ...(result !== undefined && { result }),
      });
    } catch (cause) {
      this.#tellError("The outcome of a call could not be recorded", cause);
    }
  }

  /** Why a call may not go on that was allowed before; undefined if it may. */
  blockIfAborted(call: PendingCall): { readonly decision: BlockDecision; readonly args?: undefined } | undefined {
    return this.isAborted(call) ? { decision: this.#block(call, ABORTED) } : undefined;
  }

  /** Never throws: what cannot be read is not there to be found. */
  #readResult({ step }: AllowDecision, { result }: CallEnd): unknown {
    try {
      this.#wanted ??= createStepResults(this.#parts.signed.plan);
      return this.#wanted.wants(step) ? result?.() : undefined;
    } catch {
      return undefined;
    }
  }

  async #decide(call: PendingCall): Promise<Admission> {
    const gateCall = await this.#prepare(call);
    let decision = await this.#ask("check", gateCall);
    if (decision.verdict === "hold") {
      const answer = await this.#resolveHold(decision, gateCall, call);
      if ("holdId" in answer) return { decision, hold: answer };
      decision = answer;
    }
    if (decision.verdict === "allow" && this.isAborted(call)) {
      await this.settle(decision, "aborted");
      decision = this.#block(gateCall, ABORTED);
    }
    if (decision.verdict === "allow" && isJsonObject(gateCall.args)) return { decision, args: gateCall.args };
    return { decision: decision.verdict === "block" ? decision : this.#failClosed(gateCall) };
  }

  #prepare(call: PendingCall): GateCall | Promise<GateCall> {
    return prepareCall(call, this.#parts, this.isAborted(call));
  }

  async #ask(method: "check" | "peek", call: GateCall): Promise<Decision> {
    try {
      const decision = await this.#parts.gate[method](this.#parts.signed, call);
      if (call.refusal && decision.verdict !== "block") return this.#block(call, call.refusal);
      if (isAnswer(decision, call)) return decision;
      if (method === "check") this.#tellError("The gate gave no answer to the call", decision);
    } catch (cause) {
      if (method === "check") this.#tellError("The gate failed", cause);
    }
    return this.#failClosed(call);
  }

  async #resolveHold(hold: HoldDecision, call: GateCall, pending: PendingCall): Promise<Decision | PendingHold> {
    // Before anybody is asked in vain.
    if (this.isAborted(pending)) return this.#block(call, ABORTED);
    this.#tellHold("hold", hold);
    let resolution: HoldResolution | OpenedHold;
    try {
      resolution = await (this.#parts.onHold === "suspend" ? this.#askPerson(hold) : this.#awaitPerson(hold, pending));
    } catch (cause) {
      if (this.isAborted(pending)) return this.#block(call, ABORTED);
      this.#tellError("The wait for a person failed", cause);
      return this.#failClosed(call);
    }
    switch (resolution.status) {
      case "approved": {
        this.#tellHold("approved", hold);
        const decision = await this.#ask("check", { ...call, approval: resolution.approval });
        if (decision.verdict !== "hold") return decision;
        return this.#block(call, {
          reason: "hold_rejected",
          stage: "gate",
          detail: "the approval does not fit the call any more",
        });
      }
      case "rejected":
        this.#tellHold("rejected", hold);
        return this.#block(call, {
          reason: "hold_rejected",
          stage: "gate",
          detail: "a person looked at it and said no",
        });
      case "timeout":
        this.#tellHold("timeout", hold);
        return this.#block(call, { reason: "hold_timeout", stage: "gate", detail: "nobody decided in time" });
      case "blocked":
        return this.#block(call, { reason: resolution.reason, stage: "gate", detail: resolution.detail });
      case "pending":
        return { holdId: resolution.holdId, expiresAt: resolution.expiresAt };
      default:
        resolution satisfies never;
        return this.#failClosed(call);
    }
  }

  async #awaitPerson(hold: HoldDecision, call: PendingCall): Promise<HoldResolution> {
    const timeoutMs = Math.min(this.#parts.holdTimeoutMs, hold.timeoutSeconds * 1000);
    const signal = anySignal(this.#parts.signal, call.signal);
    return await this.#parts.gate.awaitHold(hold, { timeoutMs, ...(signal && { signal }) });
  }

  async #askPerson(hold: HoldDecision): Promise<OpenedHold> {
    const opened = await this.#parts.gate.openHold?.(hold);
    const detail = "the gate cannot suspend a call";
    return opened ?? { status: "blocked", reason: "hold_requires_server", detail };
  }

  /** Nothing of the call's run may start any more. */
  isAborted(call: PendingCall): boolean {
    return this.#parts.signal?.aborted === true || call.signal?.aborted === true;
  }

  /** The one place where trouble becomes a decision: a tool runs on an explicit allow, and anything else is a block. */
  #failClosed(call: NamedCall): BlockDecision {
    return this.#block(call, {
      reason: "internal_error",
      stage: "gate",
      detail: "an error happened while deciding",
    });
  }

  #block({ callId, tool }: NamedCall, block: Block): BlockDecision {
    return Object.freeze(blockDecision({ callId, tool, planId: this.#parts.signed.planId }, block));
  }

  #tell(decision: AllowDecision | BlockDecision): void {
    // Nobody listens to most sessions: one object less for every call.
    if (!this.#parts.onEvent) return;
    const { planId, callId, tool } = decision;
    const event = { planId, callId, tool };
    if (decision.verdict === "allow") emit(this.#parts.onEvent, { type: "allow", ...event, decision });
    else emit(this.#parts.onEvent, { type: "block", ...event, reason: decision.reason, decision });
  }

  #tellHold(type: "hold" | "approved" | "rejected" | "timeout", decision: HoldDecision): void {
    const { planId, callId, tool } = decision;
    emit(this.#parts.onEvent, { type, planId, callId, tool, decision });
  }

  #tellError(message: string, cause: unknown): void {
    emit(this.#parts.onEvent, { type: "error", planId: this.#parts.signed.planId, message, cause });
  }
}

interface NamedCall {
  readonly callId: string;
  readonly tool: string;
}

/** A gate may be anybody's: an answer to another call, or half of one, is no answer. */
function isAnswer(decision: Decision | undefined, { callId, tool }: GateCall): decision is Decision {
  switch (decision?.verdict) {
    case "allow":
    case "hold":
      return decision.callId === callId && decision.tool === tool;
    case "block":
      return typeof decision.message === "string";
    default:
      return false;
  }
}

function anySignal(first: AbortSignal | undefined, second: AbortSignal | undefined): AbortSignal | undefined {
  return first && second ? AbortSignal.any([first, second]) : (first ?? second);
}
