import { check, type Decision, generateSigningKey, type OpenedToken, openPlanToken } from "intentlock/core";
import { type GateCall, LocalGate, type SignedPlan, type SignRequest } from "intentlock/gates";
import type { Suite, ToolCall, UserTask } from "./load.ts";
import { ALLOW_IN_PLAN, HOLD_SIDE_EFFECTS } from "./policies.ts";

export const AGENT = "agentdojo";
/**
 * A decision under "allow what is in the plan", and whether the call would wait for a person under the policy that holds,
 * if everything that waited before was approved: then both have counted the same.
 */
export type Replayed = Decision & { readonly held: boolean };

export interface ReplayerOptions {
  /** Give the gate every call as it was recorded, without the two checks that a session makes before it asks. */
  readonly gateAlone: boolean;
}

/** Puts recorded calls through a real gate, each list under a plan that was signed for it, with counts from zero. */
export class Replayer {
  /** Microseconds of each `gate.check()`, and of `check()` on the same call afterwards. */
  readonly gateUs: number[] = [];
  readonly coreUs: number[] = [];
  readonly #gate: LocalGate;
  /** Signs the plans with the policy that holds. What it would say is `check()`'s: nobody can be asked here. */
  readonly #holding: LocalGate;
  readonly #gateAlone: boolean;
  readonly #open: (signed: SignedPlan) => Promise<OpenedToken>;

  private constructor(
    gates: { gate: LocalGate; holding: LocalGate },
    gateAlone: boolean,
    open: (signed: SignedPlan) => Promise<OpenedToken>,
  ) {
    this.#gate = gates.gate;
    this.#holding = gates.holding;
    this.#gateAlone = gateAlone;
    this.#open = open;
  }

  static async create({ gateAlone }: ReplayerOptions): Promise<Replayer> {
    const signingKey = await generateSigningKey();
    // Entries are made, hashed and chained as in earnest; only nobody keeps them.
    const audit = { append: () => {} };
    const gate = new LocalGate({ policy: ALLOW_IN_PLAN, agent: AGENT, signingKey, audit });
    const holding = new LocalGate({ policy: HOLD_SIDE_EFFECTS, agent: AGENT, signingKey });
    return new Replayer({ gate, holding }, gateAlone, ({ token }) =>
      openPlanToken(token, [signingKey.publicKey], { audience: AGENT }),
    );
  }

  /** The decision about each call, in order. An allowed call is taken to have gone well. */
  async replay(suite: Suite, task: UserTask, calls: readonly ToolCall[]): Promise<readonly Replayed[]> {
    const request = signRequest(suite, task);
    const signed = await this.#gate.sign(request);
    const signedHolding = await this.#holding.sign(request);
    const token = await this.#open(signed);
    const holding = await this.#open(signedHolding);
    const used = task.plan.steps.map(() => 0);
    const decisions: Replayed[] = [];
    for (const [index, call] of calls.entries()) {
      const gateCall = prepareCall(suite, call, { callId: `call-${index}`, gateAlone: this.#gateAlone });
      const decision = await this.#check(signed, gateCall, { token, used });
      decisions.push({ ...decision, held: isHeld(decision, gateCall, { token: holding, used }) });
      if (decision.verdict !== "allow" || decision.seq === undefined) continue;
      used[decision.step] = (used[decision.step] ?? 0) + 1;
      const { planId } = signed;
      await this.#gate.record({ type: "outcome", planId, decisionSeq: decision.seq, status: "ok" });
    }
    await this.#gate.record({ type: "closed", planId: signed.planId });
    await this.#holding.record({ type: "closed", planId: signedHolding.planId });
    return decisions;
  }

  async close(): Promise<void> {
    await this.#gate.close();
    await this.#holding.close();
  }

  async #check(
    signed: SignedPlan,
    call: GateCall,
    { token, used }: { readonly token: OpenedToken; readonly used: readonly number[] },
  ): Promise<Decision> {
    const now = Math.floor(Date.now() / 1000);
    const gateStart = performance.now();
    const decision = await this.#gate.check(signed, call);
    const coreStart = performance.now();
    const core = check({ token, call, used, now });
    const coreEnd = performance.now();
    this.gateUs.push((coreStart - gateStart) * 1000);
    this.coreUs.push((coreEnd - coreStart) * 1000);
    if (!call.refusal && core.verdict !== decision.verdict) {
      throw new Error(`The gate says ${decision.verdict} and check() says ${core.verdict} of ${call.tool}`);
    }
    return decision;
  }
}

/** A recorded call as a gate is given it. */
export function prepareCall(
  suite: Suite,
  { tool, args }: ToolCall,
  { callId, gateAlone }: ReplayerOptions & { readonly callId: string },
): GateCall {
  const fingerprint = suite.tools.get(tool)?.fingerprint;
  const refusal = gateAlone ? undefined : refuseEarly(suite, { tool, args });
  return { callId, tool, args, ...(fingerprint !== undefined && { fingerprint }), ...(refusal && { refusal }) };
}

/** What is signed for a task. */
export function signRequest({ tools }: Suite, { prompt, plan }: UserTask): SignRequest {
  return {
    user: "emma.johnson@example.com",
    task: { instruction: prompt },
    plan,
    tools: Object.fromEntries([...tools].map(([name, { fingerprint }]) => [name, fingerprint])),
  };
}

/** @throws Error where the policies differ in anything but whether an allowed call waits */
function isHeld(
  { verdict }: Decision,
  call: GateCall,
  { token, used }: { readonly token: OpenedToken; readonly used: readonly number[] },
): boolean {
  if (call.refusal) return false;
  const { verdict: holding } = check({ token, call, used, now: Math.floor(Date.now() / 1000) });
  if ((verdict === "allow") === (holding === "block")) {
    throw new Error(`Without holds it is ${verdict} and with them ${holding}, of ${call.tool}`);
  }
  return holding === "hold";
}

/** What a session knows of a call without asking its plan: such a call never runs, and takes nothing from a step. */
function refuseEarly(suite: Suite, { tool, args }: ToolCall): GateCall["refusal"] {
  const known = suite.tools.get(tool);
  if (!known) return { reason: "unknown_tool", stage: "parse", detail: "the session has no such tool" };
  if (known.accepts(args)) return undefined;
  return { reason: "invalid_args", stage: "schema", detail: "the tool's schema refuses the arguments" };
}
