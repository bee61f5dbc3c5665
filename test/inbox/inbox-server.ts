import { onTestFinished } from "vitest";
import type { PlanStep, Policy } from "../../src/core/index.ts";
import type { GateCall, HoldResolution, SignedPlan } from "../../src/gates/gate.ts";
import { HttpGate } from "../../src/gates/http.ts";
import { createSignInLink } from "../../src/server/people/sign-in.ts";
import { startServer } from "../../src/server/serve.ts";
import { openStore, type Store } from "../../src/server/store/index.ts";
import { ALICE } from "../builders.ts";
import type { TestClock } from "../clock.ts";
import {
  addServerPeople,
  aHoldPolicy,
  anAgent,
  type ServerSetup,
  type TestAgent,
  toolFingerprint,
} from "../servers.ts";

/** A server on a port of this machine that goes by the real clock, as a browser does. */
export interface InboxServer {
  readonly url: string;
  readonly store: Store;
  readonly agent: TestAgent;
  /** Of the agent. */
  readonly gate: HttpGate;
  /** A link that signs a person in. */
  link(email: string): Promise<string>;
  /** Has a plan signed, makes a call that a rule holds, and waits for a person. */
  hold(call?: HeldCall): Promise<Held>;
}

export interface HeldCall {
  /** Instead of the server's own. */
  readonly agent?: TestAgent;
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly task?: { readonly instruction: string; readonly material?: string };
  /** What the plan says of the tool's arguments. */
  readonly conditions?: PlanStep["args"];
  readonly user?: string;
  /** Steps of the plan before the one that is held. */
  readonly before?: readonly PlanStep[];
  /** Under this plan instead of a new one. */
  readonly plan?: SignedPlan;
}

export interface Held {
  readonly plan: SignedPlan;
  readonly call: GateCall;
  readonly holdId: string;
  /** What becomes of it, as the agent is told. */
  readonly resolution: Promise<HoldResolution>;
}

export interface InboxServerSetup {
  readonly inbox: URL;
  readonly policy?: Policy | string;
  /** One that has its people. Default: a new one in memory. */
  readonly store?: Store;
  readonly agentName?: string;
  /** Of the store, instead of a new one. */
  readonly agent?: TestAgent;
  readonly people?: ServerSetup["people"];
}

export async function anInboxServer(setup: InboxServerSetup): Promise<InboxServer> {
  const clock = { now: Date.now } as TestClock;
  const store = setup.store ?? (await openStore({ sqlite: ":memory:" }));
  if (!setup.store) await addServerPeople(store, { clock, ...(setup.people && { people: setup.people }) });
  const { policy = aHoldPolicy(), agentName = "triage" } = setup;
  const agent = setup.agent ?? (await anAgent(store, { name: agentName, policy, clock }));
  const options = { port: 0, store, inbox: { folder: setup.inbox }, logLevel: "silent", sweepEveryMs: 100 } as const;
  const { url, close } = await startServer(options);
  const gates = new Map<string, HttpGate>();
  const gateOf = ({ agentId, apiKey }: TestAgent): HttpGate => {
    const gate = gates.get(agentId) ?? new HttpGate({ baseUrl: url, apiKey });
    gates.set(agentId, gate);
    return gate;
  };
  onTestFinished(async () => {
    for (const gate of gates.values()) await gate.close();
    await close();
  });
  return {
    url,
    store,
    agent,
    gate: gateOf(agent),
    link: async (email) => {
      const made = await createSignInLink({ store, clock: Date.now, publicUrl: url, actor: "cli:operator" }, email);
      return made.url;
    },
    hold: async (held = {}) => await openHold(gateOf(held.agent ?? agent), held),
  };
}

let calls = 0;

async function openHold(gate: HttpGate, held: HeldCall): Promise<Held> {
  const { tool = "post_comment", args = { body: "Thanks!" }, user = ALICE, before = [] } = held;
  const { task = { instruction: "Answer the issue" }, conditions } = held;
  const steps = [...before, { tool, ...(conditions && { args: conditions }) }];
  const tools = Object.fromEntries(steps.map((step) => [step.tool, toolFingerprint(step.tool)]));
  const plan = held.plan ?? (await gate.sign({ user, task, plan: { goal: task.instruction, steps }, tools }));
  calls += 1;
  const call = { callId: `call-${calls}`, tool, args, fingerprint: toolFingerprint(tool) };
  const decision = await gate.check(plan, call);
  if (decision.verdict !== "hold") throw new Error(`not held: ${JSON.stringify(decision)}`);
  const opened = await gate.openHold(decision);
  if (opened.status !== "pending") throw new Error(`nobody was asked: ${JSON.stringify(opened)}`);
  return { plan, call, holdId: opened.holdId, resolution: gate.awaitHold(decision, { timeoutMs: 60_000 }) };
}
