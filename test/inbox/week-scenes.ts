import type { Json, PlanStep } from "../../src/core/index.ts";
import { ALICE } from "../builders.ts";

export const ERIN = "erin@acme.dev";

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
  - id: payee-from-a-document
    match:
      tool: send_payment
      unpinned: [to]
    decision: hold
    reason: Whom to pay stands in a document, and not in the task
    approvers:
      roles: [approver]
    timeoutSeconds: 1500
  - id: allow-in-plan
    match:
      inPlan: true
    decision: allow
`;

export const RELEASE_POLICY = `version: 1
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

export const SUPPORT_POLICY = `version: 1
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
export interface Scene {
  readonly agent: "support" | "invoices" | "releases";
  readonly user: string;
  readonly task: string;
  readonly steps: readonly PlanStep[];
  readonly calls: readonly SceneCall[];
}

export interface SceneCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Of a held one; nobody decides unless told. */
  readonly decided?: "approve" | "reject";
  readonly fails?: true;
  /** What it gave, for steps that take values from it. */
  readonly result?: Json;
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

export const SCENES: readonly Scene[] = [
  {
    agent: "invoices",
    user: ERIN,
    task: "Pay the invoice that came this morning",
    steps: [
      { id: "invoice", tool: "read_invoice" },
      { tool: "send_payment", args: { to: { from: "invoice" }, amount: { lte: 500 } }, maxCalls: 1 },
    ],
    calls: [
      { tool: "read_invoice", args: { newest: true }, result: { supplier: "Weber Paper", number: "2026-301" } },
      { tool: "send_payment", args: { to: "Weber Paper", amount: 301, reference: "2026-301" }, decided: "approve" },
    ],
  },
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
export const TASKS: readonly number[] = [9, 11, 8, 3, 2, 10, 7];
