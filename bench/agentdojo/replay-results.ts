import {
  type BlockDecision,
  check,
  createStepResults,
  type Decision,
  digestCall,
  type Evidence,
  generateSigningKey,
  type HoldDecision,
  indexTask,
  type OpenedToken,
  openPlanToken,
  type SigningKey,
} from "intentlock/core";
import { type GateCall, LocalGate } from "intentlock/gates";
import type { RunCall, Suite, UserTask } from "./load.ts";
import { AGENT, prepareCall, type Replayed, type ReplayerOptions, signRequest } from "./replay.ts";

/**
 * Puts recorded calls before `check()`, with the task and with what the calls before have given. A call that a person would be
 * asked about is approved, and decided again with the approval; what ran gives its recorded output before the next is decided.
 */
export class ResultsReplayer {
  /** Microseconds of each `check()`. */
  readonly coreUs: number[] = [];
  readonly #signer: LocalGate;
  readonly #signingKey: SigningKey;
  readonly #gateAlone: boolean;

  private constructor(signer: LocalGate, signingKey: SigningKey, { gateAlone }: ReplayerOptions) {
    this.#signer = signer;
    this.#signingKey = signingKey;
    this.#gateAlone = gateAlone;
  }

  static async create(policy: string, options: ReplayerOptions): Promise<ResultsReplayer> {
    const signingKey = await generateSigningKey();
    return new ResultsReplayer(new LocalGate({ policy, agent: AGENT, signingKey }), signingKey, options);
  }

  /** The decision about each call, in order; {@link Replayed.held} if a person would be asked, who approves. */
  async replay(suite: Suite, task: UserTask, calls: readonly RunCall[]): Promise<readonly Replayed[]> {
    const request = signRequest(suite, task);
    const { planId, token: text } = await this.#signer.sign(request);
    const token = await openPlanToken(text, [this.#signingKey.publicKey], { audience: AGENT });
    const used = task.plan.steps.map(() => 0);
    const results = createStepResults(task.plan);
    const evidence = { task: indexTask(request.task), results };
    const decisions: Replayed[] = [];
    for (const [seq, { tool, args, output }] of calls.entries()) {
      const call = prepareCall(suite, { tool, args }, { callId: `call-${seq}`, gateAlone: this.#gateAlone });
      const decision = call.refusal ? refuse(call, planId) : this.#decide(call, { token, used, evidence });
      decisions.push(decision);
      if (decision.verdict !== "allow") continue;
      used[decision.step] = (used[decision.step] ?? 0) + 1;
      if (output !== undefined) results.add(decision.step, seq, output);
    }
    await this.#signer.record({ type: "closed", planId });
    return decisions;
  }

  async close(): Promise<void> {
    await this.#signer.close();
  }

  #decide(call: GateCall, facts: Facts): Replayed {
    const started = performance.now();
    const decision = decide(call, facts);
    this.coreUs.push((performance.now() - started) * 1000);
    return decision.verdict === "hold" ? approve(call, decision, facts) : { ...decision, held: false };
  }
}

interface Facts {
  readonly token: OpenedToken;
  readonly used: readonly number[];
  readonly evidence: Evidence;
}

function decide(call: GateCall, { token, used, evidence }: Facts): Decision {
  return check({ token, call, used, now: Math.floor(Date.now() / 1000), evidence });
}

/** The decision once somebody has approved the call. */
function approve(call: GateCall, { planId, rule }: HoldDecision, facts: Facts): Replayed {
  const approval = {
    holdId: call.callId,
    planId,
    rule,
    digest: digestCall(call),
    ...(call.fingerprint !== undefined && { fingerprint: call.fingerprint }),
    approvedBy: "emma.johnson@example.com",
    exp: Math.floor(Date.now() / 1000) + 60,
  };
  const decision = decide(call, { ...facts, evidence: { ...facts.evidence, approval } });
  if (decision.verdict !== "allow") throw new Error(`${call.tool} is approved, and the answer is ${decision.verdict}`);
  return { ...decision, held: true };
}

/** What a session makes of a call before it asks anybody. */
function refuse({ callId, tool, refusal }: GateCall, planId: string): Replayed {
  const { reason, stage, detail } = refusal ?? { reason: "invalid_call", stage: "parse", detail: "" };
  const message = `Blocked by Intentlock (${reason}): ${detail}`;
  const block: BlockDecision = { verdict: "block", callId, tool, planId, reason, stage, message };
  return { ...block, held: false };
}
