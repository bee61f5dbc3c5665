import { onTestFinished } from "vitest";
import type { HoldDecision, Policy } from "../src/core/index.ts";
import type { GateCall, GateTrouble, SignedPlan, SignRequest } from "../src/gates/gate.ts";
import { HybridGate, type HybridGateOptions } from "../src/gates/hybrid.ts";
import { aPolicy, aRule, summarize } from "./builders.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";
import { MemoryOutbox } from "./memory-outbox.ts";
import { aSigningServer, type SigningServer, type SigningServerSetup } from "./signing-server.ts";

/** Holds every call. */
export const ASK_POLICY: Policy = aPolicy(aRule({ id: "ask", decision: "hold", approvers: { roles: ["approver"] } }));
export const SERVER_URL = "https://intentlock.acme.dev";

export interface ScriptedHybrid {
  readonly server: SigningServer;
  readonly outbox: MemoryOutbox;
  readonly gate: HybridGate;
  /** What the listener of its plans has heard. */
  readonly troubles: GateTrouble[];
  /** The server has by now what is on record about the first plan here. */
  readonly upload: () => Promise<void>;
  readonly sign: (request?: Partial<SignRequest>) => Promise<SignedPlan>;
  /** Another process with the same server: with an outbox of its own, unless told otherwise. */
  readonly startProcess: (over?: Partial<HybridGateOptions>) => Pick<ScriptedHybrid, "gate" | "outbox">;
}

/** A gate whose server is a script and whose outbox is in memory. It asks everything once. */
export function aHybridGate(setup: SigningServerSetup = {}, over: Partial<HybridGateOptions> = {}): ScriptedHybrid {
  const server = aSigningServer(setup);
  const startProcess: ScriptedHybrid["startProcess"] = (more = {}) => {
    const outbox = new MemoryOutbox();
    const options = { baseUrl: SERVER_URL, apiKey: `ilk_${"k".repeat(43)}`, fetch: server.fetch, retries: 0 };
    const gate = new HybridGate({ ...options, clock: server.clock.now, outbox: outbox.outbox, ...over, ...more });
    onTestFinished(() => gate.close().catch(() => undefined));
    return { gate, outbox };
  };
  const { gate, outbox } = startProcess();
  const troubles: GateTrouble[] = [];
  const listener = (trouble: GateTrouble): void => void troubles.push(trouble);
  const sign: ScriptedHybrid["sign"] = async (request = {}) => await gate.sign(aSignRequest({ listener, ...request }));
  const upload = async (): Promise<void> => {
    const stored = await outbox.plan("plan-1");
    Object.assign(server.resumed, { seq: stored?.head.seq, head: stored?.head.prev });
  };
  return { server, outbox, gate, troubles, upload, sign, startProcess };
}

/** A call that is held. */
export async function holdOf(gate: HybridGate, plan: SignedPlan, over: Partial<GateCall> = {}): Promise<HoldDecision> {
  const decision = await gate.check(plan, aGateCall(over));
  if (decision.verdict !== "hold") throw new Error(summarize(decision));
  return decision;
}
