import type { BlockDecision, Decision, Json, JsonObject, OutcomeStatus, Plan } from "../core/index.ts";
import { freezeJson, jsonEqual, MAX_ARGS_BYTES } from "../core/json.ts";
import { blockDecision } from "../core/verdict.ts";
import { CallDecider, type PendingCall, type SessionCall, type SessionParts } from "./call-decider.ts";

/** The tool itself. It gets what was checked: strict JSON, frozen. */
export type ToolImplementation<T> = (args: JsonObject) => T;

/** A call that gave no result. `content` is what the model may read. */
export interface ErrorResult {
  readonly callId: string;
  readonly isError: true;
  readonly content: string;
  readonly decision: Decision;
  /** What the tool threw, if it ran. */
  readonly error?: unknown;
}

/** The one result of one call. */
export type RunResult<T> =
  | { readonly callId: string; readonly isError: false; readonly content: T; readonly decision: Decision }
  | ErrorResult;

interface InFlight {
  readonly call: PendingCall;
  /** Absent for a call whose result comes in parts. */
  result?: Promise<RunResult<unknown>>;
}

/** One run of one agent under one signed plan. Made by `startSession`. */
export class Session {
  readonly #parts: SessionParts;
  readonly #decider: CallDecider;
  readonly #inFlight = new Map<string, InFlight>();
  #closed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#decider = new CallDecider(parts);
  }

  get planId(): string {
    return this.#parts.signed.planId;
  }

  get plan(): Plan {
    return this.#parts.signed.plan;
  }

  /**
   * Checks a call and, if it is allowed, runs the tool. Never rejects: a block, a tool that throws and trouble of any kind
   * are results with `isError`. A call that comes again while it is in flight, with the same id, tool and arguments, gets
   * the same result and runs once.
   */
  async run<T>(call: SessionCall, implementation: ToolImplementation<T | PromiseLike<T>>): Promise<RunResult<T>> {
    const pending = this.#read(call);
    const earlier = this.#inFlight.get(call.callId);
    if (earlier?.result && isTwin(earlier.call, pending)) return (await earlier.result) as RunResult<T>;
    const entry: InFlight = { call: pending };
    const result = this.#whileInFlight(entry, () => this.#decideAndRun(pending, implementation));
    entry.result = result;
    return await result;
  }

  /**
   * {@link run} for a tool that gives its result in parts: yields them as they come and returns the result, whose content
   * is the last part.
   */
  async *stream<T>(
    call: SessionCall,
    implementation: ToolImplementation<AsyncIterable<T>>,
  ): AsyncGenerator<T, RunResult<T | undefined>> {
    const entry: InFlight = { call: this.#read(call) };
    const leave = this.#enter(entry);
    try {
      const { decision, args } = this.#closed ? this.#closedBlock(entry.call) : await this.#decider.decide(entry.call);
      if (!args) return blocked(decision);
      const started = performance.now();
      // Stays if the reader stops reading: whether the tool has done its work is not known then.
      let status: OutcomeStatus = "unknown";
      let content: T | undefined;
      try {
        for await (const part of implementation(args)) {
          content = part;
          yield part;
        }
        status = "ok";
        return { callId: decision.callId, isError: false, content, decision };
      } catch (error) {
        status = "failed";
        return failed(decision, error);
      } finally {
        await this.#decider.settle(decision, status, performance.now() - started);
      }
    } finally {
      leave();
    }
  }

  /** What the answer to a call would be. Takes nothing from the plan and is not recorded. Never rejects. */
  async peek(call: SessionCall): Promise<Decision> {
    const pending = this.#read(call);
    return this.#closed
      ? this.#closedBlock(pending).decision
      : await this.#decider.peek({ ...pending, clashes: false });
  }

  /** Ends the session: further calls are blocked as `aborted`. @throws IntentlockError if the gate cannot record it */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#parts.gate.record({ type: "closed", planId: this.planId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #decideAndRun<T>(
    call: PendingCall,
    implementation: ToolImplementation<T | PromiseLike<T>>,
  ): Promise<RunResult<T>> {
    const { decision, args } = this.#closed ? this.#closedBlock(call) : await this.#decider.decide(call);
    if (!args) return blocked(decision);
    const started = performance.now();
    try {
      const content = await implementation(args);
      await this.#decider.settle(decision, "ok", performance.now() - started);
      return { callId: decision.callId, isError: false, content, decision };
    } catch (error) {
      await this.#decider.settle(decision, "failed", performance.now() - started);
      return failed(decision, error);
    }
  }

  /** Reads the call once: what an attacker's getter answers later does not matter. */
  #read({ callId, tool, args, fingerprint, signal }: SessionCall): PendingCall {
    return {
      callId,
      tool,
      args,
      frozen: tryFreeze(args),
      clashes: this.#inFlight.has(callId),
      ...(fingerprint !== undefined && { fingerprint }),
      ...(signal && { signal }),
    };
  }

  async #whileInFlight<T>(entry: InFlight, work: () => Promise<T>): Promise<T> {
    const leave = this.#enter(entry);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** A call that clashes with one in flight does not take its place. */
  #enter(entry: InFlight): () => void {
    const { callId, clashes } = entry.call;
    if (clashes) return () => undefined;
    this.#inFlight.set(callId, entry);
    return () => this.#inFlight.delete(callId);
  }

  #closedBlock({ callId, tool }: SessionCall): { readonly decision: BlockDecision; readonly args?: undefined } {
    const call = { callId, tool, planId: this.planId };
    return { decision: blockDecision(call, { reason: "aborted", stage: "gate", detail: "the session is closed" }) };
  }
}

function isTwin(earlier: PendingCall, call: PendingCall): boolean {
  if (earlier.tool !== call.tool || earlier.fingerprint !== call.fingerprint) return false;
  return earlier.frozen !== undefined && call.frozen !== undefined && jsonEqual(call.frozen, earlier.frozen);
}

function tryFreeze(args: unknown): Json | undefined {
  try {
    return freezeJson(args, MAX_ARGS_BYTES);
  } catch {
    // The gate says what is wrong with them, on record.
    return undefined;
  }
}

function blocked(decision: BlockDecision): ErrorResult {
  return { callId: decision.callId, isError: true, content: decision.message, decision };
}

function failed(decision: Decision, error: unknown): ErrorResult {
  const message = error instanceof Error ? error.message : String(error);
  return { callId: decision.callId, isError: true, content: `Tool failed: ${message}`, decision, error };
}
