import { IntentlockError } from "../core/index.ts";
import type { Gate, GateListener, SignedPlan } from "../gates/gate.ts";
import type { OnHold } from "./call-decider.ts";
import { emit, type SessionListener } from "./events.ts";
import { Session } from "./session.ts";
import type { SessionTool } from "./session-tool.ts";

/** What a session needs beside its plan, whether it begins or goes on. */
export interface RunningOptions {
  readonly gate: Gate;
  /** Every tool that the agent has. */
  readonly tools: readonly SessionTool[];
  readonly onEvent?: SessionListener | undefined;
  /**
   * What becomes of a call that a person has to approve. `wait`, the default: it waits for them. `suspend`: it ends, in the
   * framework's own way, and is made again when the run goes on, in this process or with `resumeSession` in another.
   */
  readonly onHold?: OnHold | undefined;
  /** The longest wait for a person, in milliseconds. Default: 300,000. */
  readonly holdTimeoutMs?: number | undefined;
  /** Ends the session: calls that have not started are blocked as `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The session of a plan that is signed. */
export function openSession(
  signed: SignedPlan,
  fingerprints: Readonly<Record<string, string>>,
  { gate, tools, onEvent, onHold = "wait", holdTimeoutMs = 300_000, signal }: RunningOptions,
): Session {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return new Session({ gate, signed, tools: byName, fingerprints, onHold, holdTimeoutMs, onEvent, signal });
}

/** Tells a session's listener of the gate's trouble with its plan, whose id is known once it is signed. */
export class Trouble {
  planId: string | undefined;
  readonly listen: GateListener;

  constructor(onEvent: SessionListener | undefined) {
    this.listen = ({ code, message, cause }) => {
      const { planId } = this;
      emit(onEvent, { type: "error", ...(planId !== undefined && { planId }), code, message, cause });
    };
  }
}

/** @throws IntentlockError `ERR_INVALID_OPTIONS` for what is no gate */
export function assertGate(gate: Gate | undefined): void {
  if (typeof gate?.check === "function") return;
  throw new IntentlockError("ERR_INVALID_OPTIONS", "gate: expected a gate, like new LocalGate({ policy })");
}

/** @throws IntentlockError `ERR_INVALID_OPTIONS` for calls that would be suspended with nobody to ask */
export function assertSuspends({ gate, onHold }: Pick<RunningOptions, "gate" | "onHold">): void {
  if (onHold === undefined || onHold === "wait" || (onHold === "suspend" && gate.openHold)) return;
  throw new IntentlockError(
    "ERR_INVALID_OPTIONS",
    onHold === "suspend"
      ? "onHold: a gate with a server is needed to suspend calls"
      : 'onHold: expected "wait" or "suspend"',
  );
}
