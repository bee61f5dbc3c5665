import { type AllowDecision, type Decision, type HoldDecision, type PlanStep, parsePlan } from "../src/core/index.ts";
import { blockDecision } from "../src/core/verdict.ts";
import {
  type Gate,
  type GateCall,
  type HoldResolution,
  LocalGate,
  MemoryAuditSink,
  type OpenedHold,
  type Outcome,
  type SignedPlan,
  type SignRequest,
} from "../src/gates/index.ts";
import {
  type Session,
  type SessionCall,
  type SessionEvent,
  type SessionOptions,
  type SessionTool,
  startSession,
} from "../src/session/index.ts";
import { ALICE, aPlan, aPolicy, PLAN_ID } from "./builders.ts";

export function aTool(over: Partial<SessionTool> = {}): SessionTool {
  const properties = { to: { type: "string" }, amount: { type: "number" } };
  return { name: "send_money", description: "Sends money", inputSchema: { type: "object", properties }, ...over };
}

export function aSessionCall(over: Partial<SessionCall> = {}): SessionCall {
  return { callId: "call-1", tool: "send_money", args: { to: "landlord", amount: 20 }, ...over };
}

/** A session of a `LocalGate` that allows what is planned, with all that it told its listener and its audit sink. */
export async function aSession(over: Partial<SessionOptions> = {}): Promise<{
  readonly session: Session;
  readonly events: SessionEvent[];
  readonly audit: MemoryAuditSink;
}> {
  const events: SessionEvent[] = [];
  const audit = new MemoryAuditSink();
  const session = await startSession({
    gate: new LocalGate({ policy: aPolicy(), audit }),
    user: ALICE,
    task: "Pay the rent",
    tools: [aTool()],
    plan: aPlan(),
    onEvent: (event) => events.push(event),
    ...over,
  });
  return { session, events, audit };
}

/** A plan with steps of any tools. */
export function planOf(...steps: readonly PlanStep[]): SessionOptions["plan"] & object {
  return parsePlan({ goal: "Test", steps }, { tools: steps.map(({ tool }) => tool) });
}

/** The types of events, with the reason of a block. */
export function listEvents(events: readonly SessionEvent[]): string[] {
  return events.map(({ type, reason }) => (reason === undefined ? type : `${type}:${reason}`));
}

/** What the audit sink holds: the verdicts and reasons of decisions, and the statuses of outcomes. */
export function listEntries(audit: MemoryAuditSink): string[] {
  return audit.entries.flatMap(({ event }) => {
    if (event.type === "decision") {
      return `${event.callId}:${event.answer ?? (event.verdict === "block" ? event.reason : event.verdict)}`;
    }
    return event.type === "outcome" ? event.status : [];
  });
}

export type Answer = (call: GateCall) => unknown;

export interface GateScript {
  /** The answers to `check`, in their order; the last one again and again. Allows everything unless told. */
  readonly check?: readonly Answer[];
  readonly peek?: Answer;
  readonly awaitHold?: (hold: HoldDecision, options: Parameters<Gate["awaitHold"]>[1]) => unknown;
  readonly openHold?: (hold: HoldDecision) => unknown;
  readonly resume?: (planId: string) => unknown;
  readonly record?: (outcome: Outcome) => Promise<void>;
}

/** A gate that answers what a test says, and remembers what it was asked. */
export class ScriptedGate implements Gate {
  readonly signs: SignRequest[] = [];
  readonly checks: GateCall[] = [];
  readonly waits: Parameters<Gate["awaitHold"]>[1][] = [];
  readonly outcomes: Outcome[] = [];
  readonly #script: GateScript;

  /** Absent unless the script has an answer: there is nobody to ask. */
  readonly openHold?: Exclude<Gate["openHold"], undefined>;
  readonly resume?: Exclude<Gate["resume"], undefined>;

  constructor(script: GateScript = {}) {
    this.#script = script;
    const { openHold, resume } = script;
    if (openHold) this.openHold = async (hold) => (await openHold(hold)) as OpenedHold;
    if (resume) this.resume = async (planId) => (await resume(planId)) as SignedPlan;
  }

  async sign(request: SignRequest): Promise<SignedPlan> {
    this.signs.push(request);
    return { planId: PLAN_ID, plan: request.plan, token: "token", expiresAt: 0 };
  }

  async refresh(plan: SignedPlan): Promise<SignedPlan> {
    return plan;
  }

  async check(_plan: SignedPlan, call: GateCall): Promise<Decision> {
    const { check = [] } = this.#script;
    const answer = check[Math.min(this.checks.length, check.length - 1)] ?? allow;
    this.checks.push(call);
    return (await answer(call)) as Decision;
  }

  async peek(_plan: SignedPlan, call: GateCall): Promise<Decision> {
    return (await (this.#script.peek ?? allow)(call)) as Decision;
  }

  async awaitHold(hold: HoldDecision, options: Parameters<Gate["awaitHold"]>[1]): Promise<HoldResolution> {
    this.waits.push(options);
    return (await this.#script.awaitHold?.(hold, options)) as HoldResolution;
  }

  async record(outcome: Outcome): Promise<void> {
    await this.#script.record?.(outcome);
    this.outcomes.push(outcome);
  }

  async close(): Promise<void> {}
}

/** What a gate says to a call that may run; to one that was refused before, what every gate says. */
export function allow(call: GateCall): Decision {
  const { callId, tool, refusal } = call;
  if (refusal) return blockDecision({ callId, tool, planId: PLAN_ID }, refusal);
  return anAllow({ callId, tool });
}

export function anAllow(over: Partial<AllowDecision> = {}): AllowDecision {
  return {
    verdict: "allow",
    callId: "call-1",
    tool: "send_money",
    planId: PLAN_ID,
    step: 0,
    rule: "allow-in-plan",
    budgetRemaining: null,
    seq: 7,
    ...over,
  };
}

export function hold({ callId, tool }: GateCall): Decision {
  const approvers = { roles: ["admin"] } as const;
  return { verdict: "hold", callId, tool, planId: PLAN_ID, step: 0, rule: "ask", approvers, timeoutSeconds: 60 };
}

/** A promise that ends when the signal says so, as the wait of a gate does. */
export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
