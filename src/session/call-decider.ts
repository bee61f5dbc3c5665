import type {
  AllowDecision,
  BlockDecision,
  Decision,
  HoldDecision,
  Json,
  JsonObject,
  OutcomeStatus,
} from "../core/index.ts";
import { freezeJson, isJsonObject, JsonProblem, MAX_ARGS_BYTES } from "../core/json.ts";
import { type Block, blockDecision } from "../core/verdict.ts";
import type { Gate, GateCall, HoldResolution, SignedPlan } from "../gates/gate.ts";
import { emit, type SessionListener } from "./events.ts";
import type { SessionTool } from "./session-tool.ts";

/** A tool call as an adapter hands it over. All but the signal may be written by an attacker. */
export interface SessionCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: unknown;
  /** Of the tool that would run; of the tool that the session began with if it is not given. */
  readonly fingerprint?: string;
  readonly signal?: AbortSignal;
}

/** A call whose arguments have been read once. */
export interface PendingCall extends SessionCall {
  /** The arguments, frozen; undefined if they are not JSON. */
  readonly frozen: Json | undefined;
  /** Another call is in flight under the same id, with other content. */
  readonly clashes: boolean;
}

/** What a decided call may do: run the tool with these arguments, or nothing. */
export type Admission =
  | { readonly decision: AllowDecision; readonly args: JsonObject }
  | { readonly decision: BlockDecision; readonly args?: undefined };

export interface SessionParts {
  readonly gate: Gate;
  readonly signed: SignedPlan;
  readonly tools: ReadonlyMap<string, SessionTool>;
  readonly fingerprints: Readonly<Record<string, string>>;
  readonly holdTimeoutMs: number;
  readonly onEvent: SessionListener | undefined;
  readonly signal: AbortSignal | undefined;
}

const ABORTED: Block & { readonly reason: "aborted" } = {
  reason: "aborted",
  stage: "gate",
  detail: "the run was aborted",
};

/** Takes a call from its arguments to its decision, waits for people, and tells gate and listener what happened. */
export class CallDecider {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Never rejects: trouble of any kind is a block. */
  async decide(call: PendingCall): Promise<Admission> {
    const gateCall = await this.#prepare(call);
    const signal = anySignal(this.#parts.signal, call.signal);
    let decision = await this.#ask("check", gateCall);
    if (decision.verdict === "hold") decision = await this.#resolveHold(decision, gateCall, signal);
    if (decision.verdict === "allow" && signal?.aborted) {
      await this.settle(decision, "aborted");
      decision = blockDecision(decision, ABORTED);
    }
    if (decision.verdict === "allow" && isJsonObject(gateCall.args)) {
      this.#tell("allow", decision);
      return { decision, args: gateCall.args };
    }
    const block = decision.verdict === "block" ? decision : this.#failClosed(gateCall);
    this.#tell("block", block);
    return { decision: block };
  }

  /** What `decide` would start with. Nothing is taken, recorded or told. */
  async peek(call: PendingCall): Promise<Decision> {
    return await this.#ask("peek", await this.#prepare(call));
  }

  /** Records what became of an allowed call. Trouble is told to the listener: the tool has run all the same. */
  async settle(decision: AllowDecision, status: OutcomeStatus, durationMs?: number): Promise<void> {
    const { planId, seq: decisionSeq } = decision;
    if (decisionSeq === undefined) return;
    try {
      await this.#parts.gate.record({
        type: "outcome",
        planId,
        decisionSeq,
        status,
        ...(durationMs !== undefined && { durationMs }),
      });
    } catch (cause) {
      this.#tellError("The outcome of a call could not be recorded", cause);
    }
  }

  /** The call as the gate gets it: arguments parsed with the tool's own schema, or the reason why they were not. */
  async #prepare({ callId, tool: name, args, frozen, fingerprint, clashes, signal }: PendingCall): Promise<GateCall> {
    const print =
      fingerprint ?? (Object.hasOwn(this.#parts.fingerprints, name) ? this.#parts.fingerprints[name] : undefined);
    const call: GateCall = {
      callId,
      tool: name,
      args: frozen ?? args,
      ...(print !== undefined && { fingerprint: print }),
    };
    if (this.#parts.signal?.aborted || signal?.aborted) return { ...call, refusal: ABORTED };
    if (clashes) {
      return {
        ...call,
        refusal: { reason: "invalid_call", stage: "parse", detail: "another call is in flight under the same id" },
      };
    }
    const tool = this.#parts.tools.get(name);
    if (!tool)
      return { ...call, refusal: { reason: "unknown_tool", stage: "parse", detail: "the session has no such tool" } };
    if (!tool.parse || frozen === undefined) return call;
    try {
      return { ...call, args: freezeJson(await tool.parse(frozen), MAX_ARGS_BYTES) };
    } catch (error) {
      return { ...call, refusal: { reason: "invalid_args", stage: "schema", detail: describeParseError(error) } };
    }
  }

  async #ask(method: "check" | "peek", call: GateCall): Promise<Decision> {
    try {
      const decision = await this.#parts.gate[method](this.#parts.signed, call);
      if (["allow", "hold", "block"].includes(decision?.verdict)) return decision;
    } catch (cause) {
      if (method === "check") this.#tellError("The gate failed", cause);
    }
    return this.#failClosed(call);
  }

  async #resolveHold(hold: HoldDecision, call: GateCall, signal: AbortSignal | undefined): Promise<Decision> {
    this.#tell("hold", hold);
    const timeoutMs = Math.min(this.#parts.holdTimeoutMs, hold.timeoutSeconds * 1000);
    let resolution: HoldResolution;
    try {
      resolution = await this.#parts.gate.awaitHold(hold, { timeoutMs, ...(signal && { signal }) });
    } catch (cause) {
      if (signal?.aborted) return blockDecision(hold, ABORTED);
      this.#tellError("The wait for a person failed", cause);
      return this.#failClosed(call);
    }
    switch (resolution.status) {
      case "approved": {
        this.#tell("approved", hold);
        const decision = await this.#ask("check", { ...call, approval: resolution.approval });
        if (decision.verdict !== "hold") return decision;
        return blockDecision(hold, {
          reason: "hold_rejected",
          stage: "gate",
          detail: "the approval does not fit the call any more",
        });
      }
      case "rejected":
        this.#tell("rejected", hold);
        return blockDecision(hold, {
          reason: "hold_rejected",
          stage: "gate",
          detail: "a person looked at it and said no",
        });
      case "timeout":
        this.#tell("timeout", hold);
        return blockDecision(hold, { reason: "hold_timeout", stage: "gate", detail: "nobody decided in time" });
      default:
        resolution satisfies never;
        return this.#failClosed(call);
    }
  }

  /** The one place where trouble becomes a decision: a tool runs on an explicit allow, and anything else is a block. */
  #failClosed({ callId, tool }: GateCall): BlockDecision {
    const call = { callId, tool, planId: this.#parts.signed.planId };
    return blockDecision(call, { reason: "internal_error", stage: "gate", detail: "an error happened while deciding" });
  }

  #tell(type: "allow" | "block" | "hold" | "approved" | "rejected" | "timeout", decision: Decision): void {
    const { planId, callId, tool } = decision;
    const reason = decision.verdict === "block" ? { reason: decision.reason } : {};
    emit(this.#parts.onEvent, { type, planId, callId, tool, ...reason, decision });
  }

  #tellError(message: string, cause: unknown): void {
    emit(this.#parts.onEvent, { type: "error", planId: this.#parts.signed.planId, message, cause });
  }
}

function describeParseError(error: unknown): string {
  if (error instanceof JsonProblem) {
    return `the tool's schema makes of them what is not JSON${error.path ? ` at ${error.path}` : ""}: ${error.message}`;
  }
  return error instanceof Error ? error.message.slice(0, 1000) : "the tool's schema rejects them";
}

function anySignal(first: AbortSignal | undefined, second: AbortSignal | undefined): AbortSignal | undefined {
  return first && second ? AbortSignal.any([first, second]) : (first ?? second);
}
