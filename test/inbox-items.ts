import type { InboxItemAnswer } from "../src/core/api/index.ts";

/** A hold as the inbox gets it: of a refund by a support agent, for Alice. */
export function aHold(over: Partial<InboxItemAnswer> = {}): InboxItemAnswer {
  return {
    holdId: "hold-1",
    status: "pending",
    expiresAt: 1_800_000_300,
    kind: "call",
    planId: "plan-1",
    agentId: "agent-1",
    agentName: "Support agent",
    user: "alice@acme.dev",
    task: { instruction: "Refund order 4711" },
    plan: { goal: "Refund order 4711", steps: [{ tool: "issue_refund", maxCalls: 1 }] },
    createdAt: 1_800_000_000_000,
    digest: `sha256:${"9f3c".repeat(16)}`,
    approvers: { roles: ["approver"] },
    tool: "issue_refund",
    args: { order: "4711", amount: 180 },
    step: 0,
    rule: "hold-refunds",
    ruleReason: "Refunds of 100 and more",
    ...over,
  };
}
