import type { BlockDecision, Decision, JsonObject, OutcomeStatus, Plan } from "../core/index.ts";
import { blockDecision } from "../core/verdict.ts";
import { AdmittedCall } from "./admitted-call.ts";
import {
  type Admission,
  CallDecider,
  type OnHold,
  type PendingCall,
  type PendingHold,
  type SessionCall,
  type SessionParts,
} from "./call-decider.ts";
import { describeThrown } from "./describe-thrown.ts";
import { readCall } from "./read-call.ts";
import { isTwin, RepeatableCalls, type SuspendedCall } from "./repeatable-calls.ts";
import type { SessionTool } from "./session-tool.ts";

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
  /**
   * A person was asked about the call, which has not run: with `onHold: "suspend"`, it is to be made again when the run
   * goes on, and runs then if they have approved it.
   */
  readonly hold?: PendingHold;
}

/** The one result of one call. */
export type RunResult<T> =
  | { readonly callId: string; readonly isError: false; readonly content: T; readonly decision: Decision }
  | ErrorResult;

export interface RunOptions<T = unknown> {
  /**
   * Whether what the tool threw suspends it, in the framework's own way. Such a call has not failed: once the framework
   * runs it again, under the same `replayKey`, it goes on. The error is in the result as it was thrown.
   */
  readonly isSuspension?: (thrown: unknown) => boolean;
  /** False for frameworks that go on with suspended calls, and run no others again. Default: true. */
  readonly keepsResults?: boolean;
  /**
   * What of the content the tool itself has said, where a framework puts more around it: what the model has written, an id
   * of a call, is no source of values for the next one. Default: all of it. Asked for only if the plan has such sources.
   */
  readonly resultOf?: (content: T) => unknown;
}

interface InFlight {
  readonly call: PendingCall;
  /** Absent for a call whose result comes in parts. */
  result?: Promise<RunResult<unknown>>;
}

interface ToolRun<T> extends RunOptions<T> {
  readonly implementation: ToolImplementation<T | PromiseLike<T>>;
}

/** One run of one agent under one signed plan. Made by `startSession`. */
export class Session {
  readonly #parts: SessionParts;
  readonly #decider: CallDecider;
  readonly #inFlight = new Map<string, InFlight>();
  readonly #repeatable = new RepeatableCalls();
  /** Allowed, to be run by others, and not settled yet. */
  readonly #admitted = new Set<AdmittedCall>();
  #closing: Promise<void> | undefined;

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

  /** What becomes of a call that a person has to approve. */
  get onHold(): OnHold {
    return this.#parts.onHold;
  }

  /** The names of the tools that the session began with. */
  get toolNames(): readonly string[] {
    return [...this.#parts.tools.keys()];
  }

  /** A tool that the session began with. */
  tool(name: string): SessionTool | undefined {
    return this.#parts.tools.get(name);
  }

  /**
   * Checks a call and, if it is allowed, runs the tool. Never rejects: a block, a tool that throws and trouble of any kind
   * are results with `isError`. A call that comes again while it is in flight, with the same id, tool and arguments, gets
   * the same result and runs once.
   */
  async run<T>(
    call: SessionCall,
    implementation: ToolImplementation<T | PromiseLike<T>>,
    options: RunOptions<T> = {},
  ): Promise<RunResult<T>> {
    const pending = this.#read(call);
    const earlier = this.#inFlight.get(pending.callId);
    if (earlier?.result && isTwin(earlier.call, pending)) return (await earlier.result) as RunResult<T>;
    const repeated = this.#repeatable.find(pending);
    if (repeated?.result) return repeated.result as RunResult<T>;
    const entry: InFlight = { call: pending };
    const result = this.#runOnce(entry, repeated?.suspended, { implementation, ...options });
    entry.result = result;
    return await result;
  }

  /**
   * {@link run} for a tool that gives its result in parts: yields them as they come and returns the result, whose content
   * is the last part. A call that {@link run} has suspended goes on here, too.
   */
  async *stream<T>(
    call: SessionCall,
    implementation: ToolImplementation<AsyncIterable<T>>,
  ): AsyncGenerator<T, RunResult<T | undefined>> {
    const entry: InFlight = { call: this.#read(call) };
    this.#enter(entry);
    try {
      const { callId } = entry.call;
      const suspended = this.#repeatable.find(entry.call)?.suspended;
      const admission = suspended ? this.#goOn(suspended, entry.call) : await this.#decide(entry.call);
      const { decision, args } = admission;
      if (!args) return refused(callId, admission);
      if (suspended) this.#repeatable.forget(entry.call);
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
        return { callId, isError: false, content, decision };
      } catch (error) {
        status = "failed";
        return failed(callId, decision, error);
      } finally {
        const durationMs = performance.now() - started;
        await this.#decider.settle(decision, status, { durationMs, result: () => content });
      }
    } finally {
      this.#leave(entry);
    }
  }

  /**
   * {@link run} for a tool that somebody else runs: decides, and gives the call to claim and settle, or why it may not run.
   * Until it is settled it is in flight. Never rejects.
   */
  async admit(call: SessionCall): Promise<AdmittedCall | ErrorResult> {
    const entry: InFlight = { call: this.#read(call) };
    this.#enter(entry);
    const admission = await this.#decide(entry.call);
    if (!admission.args) {
      this.#leave(entry);
      return refused(entry.call.callId, admission);
    }
    const { decision, args } = admission;
    const admitted: AdmittedCall = new AdmittedCall({
      decision,
      args,
      isOver: () => this.#closing !== undefined || this.#decider.isAborted(entry.call),
      settle: async (status, end) => {
        this.#leave(entry);
        this.#admitted.delete(admitted);
        await this.#decider.settle(decision, status, end);
      },
    });
    this.#admitted.add(admitted);
    return admitted;
  }

  /** What the answer to a call would be. Takes nothing from the plan and is not recorded. Never rejects. */
  async peek(call: SessionCall): Promise<Decision> {
    const pending = this.#read(call);
    return this.#closing
      ? this.#closedBlock(pending).decision
      : await this.#decider.peek({ ...pending, clashes: false });
  }

  /**
   * Whether this very call, with these arguments, was allowed, has been suspended by its tool, and has not gone on since.
   * No one but the tool brings that about: a framework's word that it resumes a call proves nothing.
   */
  hasSuspended(call: SessionCall): boolean {
    return this.#repeatable.find(this.#read(call))?.suspended !== undefined;
  }

  /** Ends the session: further calls are blocked as `aborted`. @throws IntentlockError if the gate cannot record it */
  async close(): Promise<void> {
    this.#closing ??= this.#recordClosed();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #recordClosed(): Promise<void> {
    for (const admitted of this.#admitted) await admitted.release();
    for (const { decision } of this.#repeatable.takeSuspended()) await this.#decider.settle(decision, "unknown");
    await this.#parts.gate.record({ type: "closed", planId: this.planId });
  }

  #decide(call: PendingCall): Admission | Promise<Admission> {
    return this.#closing ? this.#closedBlock(call) : this.#decider.decide(call);
  }

  /** A call that its tool suspended has been decided, counted and recorded. */
  #goOn(suspended: SuspendedCall, again: PendingCall): Admission {
    if (this.#closing) return this.#closedBlock(again);
    return this.#decider.blockIfAborted(again) ?? suspended;
  }

  async #runOnce<T>(entry: InFlight, suspended: SuspendedCall | undefined, tool: ToolRun<T>): Promise<RunResult<T>> {
    this.#enter(entry);
    try {
      const admission = suspended ? this.#goOn(suspended, entry.call) : await this.#decide(entry.call);
      return await this.#runAdmitted(entry.call, admission, tool);
    } finally {
      this.#leave(entry);
    }
  }

  async #runAdmitted<T>(
    call: PendingCall,
    admission: Admission,
    { implementation, isSuspension, keepsResults = true, resultOf = (content) => content }: ToolRun<T>,
  ): Promise<RunResult<T>> {
    const { callId } = call;
    const { decision, args } = admission;
    if (!args) return refused(callId, admission);
    const started = performance.now();
    try {
      const content = await implementation(args);
      const durationMs = performance.now() - started;
      await this.#decider.settle(decision, "ok", { durationMs, result: () => resultOf(content) });
      const result = { callId, isError: false, content, decision } as const;
      if (keepsResults) this.#repeatable.keep(call, result);
      else this.#repeatable.forget(call);
      return result;
    } catch (error) {
      const result = failed(callId, decision, error);
      if (isSuspension?.(error) && this.#repeatable.suspend({ call, decision, args })) return result;
      this.#repeatable.forget(call);
      await this.#decider.settle(decision, "failed", { durationMs: performance.now() - started });
      return result;
    }
  }

  #read(call: SessionCall): PendingCall {
    return readCall(call, this.#inFlight);
  }

  /** A call that clashes with one in flight does not take its place. */
  #enter(entry: InFlight): void {
    const { callId, clashes } = entry.call;
    if (!clashes) this.#inFlight.set(callId, entry);
  }

  #leave({ call }: InFlight): void {
    if (!call.clashes) this.#inFlight.delete(call.callId);
  }

  #closedBlock({ callId, tool }: PendingCall): { readonly decision: BlockDecision; readonly args?: undefined } {
    const call = { callId, tool, planId: this.planId };
    const block = blockDecision(call, { reason: "aborted", stage: "gate", detail: "the session is closed" });
    return { decision: Object.freeze(block) };
  }
}

function refused(callId: string, { decision, hold }: Exclude<Admission, { readonly args: JsonObject }>): ErrorResult {
  if (!hold) return { callId, isError: true, content: decision.message, decision };
  const content = `Held by Intentlock (${decision.rule}): a person has to approve this action, and has been asked.\nIt has not run yet. Do not ask for it again.`;
  return { callId, isError: true, content, decision, hold };
}

function failed(callId: string, decision: Decision, error: unknown): ErrorResult {
  return { callId, isError: true, content: `Tool failed: ${describeThrown(error)}`, decision, error };
}
