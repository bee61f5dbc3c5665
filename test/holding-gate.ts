import { type Decision, type HoldDecision, IntentlockError } from "../src/core/index.ts";
import type {
  Gate,
  GateCall,
  HoldResolution,
  OpenedHold,
  Outcome,
  SignedPlan,
  SignRequest,
} from "../src/gates/index.ts";
import { PLAN_ID } from "./builders.ts";
import { allow, hold } from "./sessions.ts";

interface TestHold {
  readonly holdId: string;
  status: "pending" | "approved" | "rejected";
}

/** A gate with its inbox: calls of some tools wait for a person, all others may run. It serves any number of processes. */
export class HoldingGate implements Gate {
  readonly checks: GateCall[] = [];
  readonly opened: string[] = [];
  readonly outcomes: Outcome[] = [];
  readonly signs: SignRequest[] = [];
  #held: readonly string[];
  readonly #holds = new Map<string, TestHold>();
  readonly #calls = new WeakMap<HoldDecision, string>();
  readonly #plans = new Map<string, SignedPlan>();

  constructor(...held: readonly string[]) {
    this.#held = held;
  }

  /** What the person says who sees every hold that is open, or only that of one action. */
  decide(status: "approved" | "rejected", only?: Pick<GateCall, "tool" | "args">): void {
    const action = only && nameAction(only);
    for (const [name, one] of this.#holds) {
      if (one.status === "pending" && (action === undefined || action === name)) one.status = status;
    }
  }

  /** The policy changes: no rule holds a call any more. */
  stopHolding(): void {
    this.#held = [];
  }

  async sign(request: SignRequest): Promise<SignedPlan> {
    this.signs.push(request);
    const { user, plan, tools } = request;
    const claims = JSON.stringify({ sub: typeof user === "string" ? user : user.email, tools });
    const token = `header.${Buffer.from(claims).toString("base64url")}.signature`;
    const planId = this.signs.length === 1 ? PLAN_ID : `${PLAN_ID}-${this.signs.length}`;
    const signed = { planId, plan, token, expiresAt: 0 };
    this.#plans.set(planId, signed);
    return signed;
  }

  async resume(planId: string): Promise<SignedPlan> {
    const signed = this.#plans.get(planId);
    if (!signed) throw new IntentlockError("ERR_UNKNOWN_PLAN", "There is no such plan");
    return signed;
  }

  async refresh(plan: SignedPlan): Promise<SignedPlan> {
    return plan;
  }

  async check(_plan: SignedPlan, call: GateCall): Promise<Decision> {
    this.checks.push(call);
    const action = nameAction(call);
    const approved = call.approval !== undefined && this.#holds.get(action)?.holdId === call.approval;
    // Good for one call.
    if (approved) this.#holds.delete(action);
    const decision = approved ? allow(call) : await this.peek(_plan, call);
    if (decision.verdict === "hold") this.#calls.set(decision, action);
    return decision;
  }

  async peek(_plan: SignedPlan, call: GateCall): Promise<Decision> {
    return call.refusal || !this.#held.includes(call.tool) ? allow(call) : hold(call);
  }

  async openHold(decision: HoldDecision): Promise<OpenedHold> {
    const action = this.#calls.get(decision) ?? "";
    const known = this.#holds.get(action);
    const { holdId, status } = known ?? { holdId: `hold-${this.opened.length + 1}`, status: "pending" };
    if (!known) {
      this.#holds.set(action, { holdId, status });
      this.opened.push(action);
    }
    if (status === "approved") return { status, approval: holdId, approvedBy: "bob@acme.dev" };
    return status === "rejected" ? { status } : { status: "pending", holdId, expiresAt: 1_900_000_000 };
  }

  async awaitHold(): Promise<HoldResolution> {
    throw new Error("Nobody waits here");
  }

  async record(outcome: Outcome): Promise<void> {
    this.outcomes.push(outcome);
    if (outcome.type === "closed") this.#plans.delete(outcome.planId);
  }

  async close(): Promise<void> {}
}

function nameAction({ tool, args }: Pick<GateCall, "tool" | "args">): string {
  return JSON.stringify([tool, args]);
}
