/** What an agent's first policy starts from. */
export const POLICY_TEMPLATE = `# What this agent may do, whatever its plan says. The first rule that matches a call
# decides; a call that no rule matches is blocked.
version: 1
default: block
rules:
  # Hold what is hard to undo, until a person has seen it:
  # - id: hold-payments
  #   match: { tool: send_money }
  #   decision: hold
  #   reason: Money leaves the account
  #   approvers: { roles: [approver] }
  #   timeoutSeconds: 300

  # Ask a person where neither the plan nor the user's words say who gets it:
  # - id: hold-open-recipients
  #   match: { tool: send_email, unpinned: [to] }
  #   decision: hold
  #   reason: Nobody has said who gets this mail
  #   approvers: { roles: [approver] }

  # Block what no plan may do. notGlob also matches calls that leave the argument out:
  # - id: mail-to-acme-only
  #   match: { tool: send_email, args: { to: { notGlob: "*@acme.dev" } } }
  #   decision: block
  #   reason: Mail goes to acme.dev only

  # Allow the rest of what is planned:
  - id: allow-in-plan
    match: { inPlan: true }
    decision: allow
`;
