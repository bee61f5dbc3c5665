import type { SignedPlan } from "../../src/gates/gate.ts";
import { HttpGate } from "../../src/gates/http.ts";
import { createServer, type IntentlockServer } from "../../src/server/create-server.ts";
import { decideHold } from "../../src/server/people/decide-hold.ts";
import type { Store } from "../../src/server/store/index.ts";
import { ALICE } from "../builders.ts";
import type { TestClock } from "../clock.ts";
import { CAROL } from "../people.ts";
import { aKey, anAgent, PUBLIC_URL, ROOT, type TestAgent, toolFingerprint } from "../servers.ts";
import { BOB } from "../store-builders.ts";
import {
  ERIN,
  INVOICE_POLICY,
  RELEASE_POLICY,
  SCENES,
  type Scene,
  type SceneCall,
  SUPPORT_POLICY,
  TASKS,
} from "./week-scenes.ts";

const DAY = 86_400_000;

/** What was done in a week by agents that are invented, and all that is on record of it. */
export interface Week {
  readonly support: TestAgent;
  readonly invoices: TestAgent;
  readonly releases: TestAgent;
  /** The last plan under which a person approved a payment. */
  readonly approvedPlan: string;
}

/** Has the week happen in a store, through a server whose clock goes through it. */
export async function liveAWeek(store: Store): Promise<Week> {
  const today = Date.now();
  let now = today - TASKS.length * DAY;
  const clock = { now: () => now } as TestClock;
  const server = createServer({ store, publicUrl: PUBLIC_URL, inbox: false, clock: clock.now });
  const pass = (milliseconds: number): void => {
    now += milliseconds;
  };
  await addNamedPeople(store, now);
  const agents = await addNamedAgents(store, clock);
  const open = ({ apiKey }: TestAgent): HttpGate =>
    new HttpGate({ baseUrl: PUBLIC_URL, apiKey, clock: clock.now, fetch: (request) => server.fetch(request) });
  const gates = { support: open(agents.support), invoices: open(agents.invoices), releases: open(agents.releases) };
  let approvedPlan = "";
  let count = 0;
  for (const [day, tasks] of TASKS.entries()) {
    for (let task = 0; task < tasks; task += 1) {
      now = Math.round(today - (TASKS.length - day) * DAY + (task + 0.5) * (DAY / tasks));
      const scene = SCENES[count % SCENES.length]!;
      const { planId, isApproved } = await playScene({ server, gate: gates[scene.agent], pass }, scene);
      if (isApproved && scene.agent === "invoices") approvedPlan = planId;
      count += 1;
    }
  }
  await server.sweep();
  return { ...agents, approvedPlan };
}

interface Stage {
  readonly server: IntentlockServer;
  readonly gate: HttpGate;
  readonly pass: (milliseconds: number) => void;
}

async function playScene(
  stage: Stage,
  scene: Scene,
): Promise<{ readonly planId: string; readonly isApproved: boolean }> {
  const { gate, pass } = stage;
  const { user, task, steps, calls } = scene;
  const tools = Object.fromEntries([...steps, ...calls].map(({ tool }) => [tool, toolFingerprint(tool)]));
  const plan = await gate.sign({ user, task: { instruction: task }, plan: { goal: task, steps }, tools });
  let isApproved = false;
  for (const [index, call] of calls.entries()) {
    pass(2300 + 410 * index);
    isApproved = (await makeCall(stage, plan, { ...call, callId: `call_${index}` })) || isApproved;
  }
  await gate.record({ type: "closed", planId: plan.planId });
  return { planId: plan.planId, isApproved };
}

/** @returns whether it ran because a person approved it */
async function makeCall(
  { server, gate, pass }: Stage,
  plan: SignedPlan,
  { callId, tool, args, decided, fails, result }: SceneCall & { readonly callId: string },
): Promise<boolean> {
  const call = { callId, tool, args, fingerprint: toolFingerprint(tool) };
  let decision = await gate.check(plan, call);
  if (decision.verdict === "hold") {
    const opened = await gate.openHold(decision);
    if (opened.status !== "pending" || !decided) return false;
    pass(95_000);
    const comment = decided === "approve" ? "Matches the order" : "We have paid this one already";
    const by = { email: tool === "send_payment" ? BOB : CAROL };
    await decideHold(server.context, by, { holdId: opened.holdId, decision: decided, comment });
    const answer = await gate.awaitHold(decision, { timeoutMs: 1000 });
    if (answer.status !== "approved") return false;
    decision = await gate.check(plan, { ...call, approval: answer.approval });
  }
  if (decision.verdict !== "allow") return false;
  pass(640);
  const status = fails ? "failed" : "ok";
  const outcome = {
    decisionSeq: decision.seq!,
    status,
    durationMs: 640,
    ...(result !== undefined && { result }),
  } as const;
  await gate.record({ type: "outcome", planId: plan.planId, ...outcome });
  return decided === "approve";
}

async function addNamedAgents(store: Store, clock: TestClock): Promise<Omit<Week, "approvedPlan">> {
  const createdAt = clock.now();
  const support = await anAgent(store, { name: "support-triage", policy: SUPPORT_POLICY, clock, keyName: "help desk" });
  await aKey(store, support.agentId, { mayActFor: [ALICE, ERIN], createdAt, name: "trial" });
  const stricter = INVOICE_POLICY.replace("1000", "500");
  const invoices = await anAgent(store, { name: "invoice-runner", policy: stricter, clock, keyName: "nightly" });
  const change = { createdAt: createdAt + 1, createdBy: ROOT, comment: "Small payments need no second pair of eyes" };
  await store.policies.push({ agentId: invoices.agentId, text: INVOICE_POLICY, ...change });
  const releases = await anAgent(store, { name: "release-bot", policy: RELEASE_POLICY, clock, mayActFor: [ERIN] });
  return { support, invoices, releases };
}

async function addNamedPeople(store: Store, createdAt: number): Promise<void> {
  const people = [
    { email: ROOT, name: "Operations", roles: ["admin"], groups: ["operations"] },
    { email: ALICE, name: "Alice", roles: ["member"], groups: ["finance"] },
    { email: BOB, name: "Bob", roles: ["approver"], groups: ["finance"] },
    { email: CAROL, name: "Carol", roles: ["approver", "member"], groups: ["finance", "releases"] },
    { email: ERIN, name: "Erin", roles: ["member"], groups: ["releases"] },
  ] as const;
  for (const person of people) await store.people.upsert({ ...person, createdAt, disabledAt: null });
}
