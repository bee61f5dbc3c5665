import type { Decision } from "intentlock/core";
import type { Gate, GateCall, SignedPlan, SignRequest } from "intentlock/gates";

/** A gate that allows everything at once and records nothing: what is left is the adapter, and the session. */
export class YesGate implements Gate {
  async sign({ plan }: SignRequest): Promise<SignedPlan> {
    return { planId: "plan", plan, token: "", expiresAt: Number.MAX_SAFE_INTEGER };
  }

  async refresh(plan: SignedPlan): Promise<SignedPlan> {
    return plan;
  }

  async check({ planId }: SignedPlan, { callId, tool }: GateCall): Promise<Decision> {
    return { verdict: "allow", callId, tool, planId, step: 0, rule: "yes", budgetRemaining: null };
  }

  async peek(plan: SignedPlan, call: GateCall): Promise<Decision> {
    return await this.check(plan, call);
  }

  async awaitHold(): Promise<never> {
    throw new Error("Nothing is held");
  }

  async record(): Promise<void> {}

  async close(): Promise<void> {}
}
