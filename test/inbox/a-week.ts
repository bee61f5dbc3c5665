import type { PlanStep } from "../../src/core/index.ts";
import type { SignedPlan } from "../../src/gates/gate.ts";
import { HttpGate } from "../../src/gates/http.ts";
import { createServer } from "../../src/server/create-server.ts";
import { decideHold } from "../../src/server/people/decide-hold.ts";
import type { Store } from "../../src/server/store/index.ts";
import { ALICE } from "../builders.ts";
import type { TestClock } from "../clock.ts";
import { CAROL } from "../people.ts";
import { aKey, anAgent, PUBLIC_URL, ROOT, type TestAgent, toolFingerprint } from "../servers.ts";
import { BOB } from "../store-builders.ts";

export const ERIN = "erin@acme.dev";
const DAY = 86_400_000;

/** What was done in a week by agents that are invented, and all that is on record of it. */
export interface Week {
  readonly support: TestAgent;
  readonly invoices: TestAgent;
  readonly releases: TestAgent;
  /** The last plan under which a person approved a payment. */
  readonly approvedPlan: string;
}

export const INVOICE_POLICY = `version: 1
default: block
rules:
  # Nobody pays an account that was changed by mail.
  - id: no-new-accounts
    match:
      tool: update_account
    decision: block
    reason: Accounts of suppliers are changed by people only
  - id: large-payments
    match:
      tool: send_payment
      args:
        amount: { gte: 1000 }
    decision: hold
    reason: Payments from 1,000 on need a second pair of eyes
    approvers:
      roles: [approver]
    timeoutSeconds: 1500
  - id: allow-in-plan
    match:
      inPlan: true
    decision: allow
`;

const RELEASE_POLICY = `version: 1
default: block
rules:
  - id: publishing
    match:
      tool: publish_package
    decision: hold
    reason: What is published cannot be taken back
    approvers:
      roles: [approver]
    timeoutSeconds: 3600
  - id: allow-in-plan
    match:
      inPlan: true
    decision: allow
`;

const SUPPORT_POLICY = `version: 1
default: block
rules:
  - id: public-words
    match:
      tool: post_comment
    decision: hold
    reason: What is posted in public is read by a person first
    approvers:
      roles: [approver]
    timeoutSeconds: 7200
  - id: allow-in-plan
    match:
      inPlan: true
    decision: allow
`;

/** One task of a user, and what the agent then did. */
interface Scene {
  readonly agent: "support" | "invoices" | "releases";
  readonly user: string;
  readonly task: string;
  readonly steps: readonly PlanStep[];
  readonly calls: readonly SceneCall[];
}

interface SceneCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Of a held one; nobody decides unless told. */
  readonly decided?: "approve" | "reject";
  readonly fails?: true;
}

function pay(supplier: string, amount: number, decided?: SceneCall["decided"]): Scene {
  const number = `2026-${String(amount).slice(0, 3)}`;
  return {
    agent: "invoices",
    user: amount % 2 === 0 ? ALICE : ERIN,
    task: `Pay invoice ${number} from ${supplier}`,
    steps: [
      { tool: "read_invoice", args: { number: { eq: number } } },
      { tool: "send_payment", args: { to: { eq: supplier }, amount: { lte: amount } }, maxCalls: 1 },
    ],
    calls: [
      { tool: "read_invoice", args: { number } },
      { tool: "send_payment", args: { to: supplier, amount, reference: number }, ...(decided && { decided }) },
    ],
  };
}

const NOTES = { tool: "write_notes", args: { version: "4.2.0", highlights: ["Faster start", "Fewer warnings"] } };

const SCENES: readonly Scene[] = [
  pay("Nordlicht Energy", 412),
  pay("Hafen Logistics", 2480, "approve"),
  pay("Kern Office Supplies", 186),
  {
    ...pay("Hafen Logistics", 940),
    task: "Bring the list of suppliers up to date with the invoices of this week",
    steps: [{ tool: "read_invoice" }, { tool: "update_account" }],
    calls: [
      { tool: "read_invoice", args: { number: "2026-94" } },
      { tool: "update_account", args: { supplier: "Hafen Logistics", iban: "DE00 0000 0000 0000 0000 00" } },
      // What the invoice said, and nobody asked for.
      { tool: "send_payment", args: { to: "Hafen Logistics", amount: 9400 } },
    ],
  },
  {
    agent: "support",
    user: ALICE,
    task: "Answer the open questions about 4.2.0",
    steps: [
      { tool: "list_issues", args: { label: { eq: "question" } } },
      { tool: "post_comment", maxCalls: 3 },
    ],
    calls: [
      { tool: "list_issues", args: { label: "question" } },
      { tool: "list_issues", args: { label: "security" } },
      { tool: "post_comment", args: { issue: 471, body: "Yes, 4.2.0 has it." }, decided: "approve" },
    ],
  },
  {
    agent: "releases",
    user: ERIN,
    task: "Prepare the notes of the next release",
    steps: [{ tool: "list_changes" }, { tool: "write_notes", maxCalls: 2 }],
    calls: [{ tool: "list_changes", args: { since: "4.1.3" } }, { ...NOTES, fails: true }, NOTES, NOTES],
  },
  pay("Brandt Catering", 1250, "reject"),
  {
    agent: "releases",
    user: ERIN,
    task: "Publish 4.2.0 when the tests pass",
    steps: [{ tool: "run_tests" }, { tool: "publish_package", args: { version: { eq: "4.2.0" } }, maxCalls: 1 }],
    calls: [
      { tool: "run_tests", args: { suite: "all" } },
      { tool: "publish_package", args: { version: "4.2.0", tag: "latest" }, decided: "approve" },
      { tool: "publish_package", args: { version: "4.2.1", tag: "latest" } },
    ],
  },
  pay("Kern Office Supplies", 75),
];

/** How many tasks there were on each day, the last one being today. */
const TASKS: readonly number[] = [9, 11, 8, 3, 2, 10, 7];

/** Has the week happen in a store, through a server whose clock goes through it. */
export async function liveAWeek(store: Store): Promise<Week> {
  const today = Date.now();
  let now = today - TASKS.length * DAY;
  const clock = { now: () => now } as TestClock;
  const server = createServer({ store, publicUrl: PUBLIC_URL, inbox: false, clock: clock.now });
  await addNamedPeople(store, now);
  const agents = {
    support: await anAgent(store, { name: "support-triage", policy: SUPPORT_POLICY, clock, keyName: "help desk" }),
    invoices: await anAgent(store, { name: "invoice-runner", policy: INVOICE_POLICY.replace("1000", "500"), clock }),
    releases: await anAgent(store, { name: "release-bot", policy: RELEASE_POLICY, clock, mayActFor: [ERIN] }),
  };
  await aKey(store, agents.support.agentId, { mayActFor: [ALICE, ERIN], createdAt: now, name: "trial" });
  const { agentId } = agents.invoices;
  const comment = "Small payments need no second pair of eyes";
  await store.policies.push({ agentId, text: INVOICE_POLICY, createdAt: now + 1, createdBy: ROOT, comment });
  const open = ({ apiKey }: TestAgent): HttpGate =>
    new HttpGate({ baseUrl: PUBLIC_URL, apiKey, clock: clock.now, fetch: (request) => server.fetch(request) });
  const gates = { support: open(agents.support), invoices: open(agents.invoices), releases: open(agents.releases) };
  let approvedPlan = "";
  let count = 0;
  for (const [day, tasks] of TASKS.entries()) {
    for (let task = 0; task < tasks; task += 1) {
      now = Math.round(today - (TASKS.length - day) * DAY + (task + 0.5) * (DAY / tasks));
      const scene = SCENES[count % SCENES.length]!;
      const gate = gates[scene.agent];
      const tools = Object.fromEntries(scene.calls.map(({ tool }) => [tool, toolFingerprint(tool)]));
      for (const { tool } of scene.steps) tools[tool] = toolFingerprint(tool);
      const { user, steps } = scene;
      const plan = await gate.sign({
        user,
        task: { instruction: scene.task },
        plan: { goal: scene.task, steps },
        tools,
      });
      for (const [index, call] of scene.calls.entries()) {
        now += 2300 + 410 * index;
        const isApproved = await makeCall(gate, plan, { ...call, callId: `call_${count}_${index}` });
        if (isApproved && scene.agent === "invoices") approvedPlan = plan.planId;
      }
      await gate.record({ type: "closed", planId: plan.planId });
      count += 1;
    }
  }
  await server.sweep();
  return { ...agents, approvedPlan };

  async function makeCall(
    gate: HttpGate,
    plan: SignedPlan,
    made: SceneCall & { readonly callId: string },
  ): Promise<boolean> {
    const { callId, tool, args, decided } = made;
    const call = { callId, tool, args, fingerprint: toolFingerprint(tool) };
    let decision = await gate.check(plan, call);
    if (decision.verdict === "hold") {
      const opened = await gate.openHold(decision);
      if (opened.status !== "pending" || !decided) return false;
      now += 95_000;
      const comment = decided === "approve" ? "Matches the order" : "We have paid this one already";
      const by = { email: callId.endsWith("1") ? BOB : CAROL };
      await decideHold(server.context, by, { holdId: opened.holdId, decision: decided, comment });
      const answer = await gate.awaitHold(decision, { timeoutMs: 1000 });
      if (answer.status !== "approved") return false;
      decision = await gate.check(plan, { ...call, approval: answer.approval });
    }
    if (decision.verdict !== "allow") return false;
    now += 640;
    const { planId } = plan;
    const status = made.fails ? "failed" : "ok";
    await gate.record({ type: "outcome", planId, decisionSeq: decision.seq!, status, durationMs: 640 });
    return decided === "approve";
  }
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
