/** Everything that the plan has. */
export const ALLOW_IN_PLAN = `
version: 1
default: block
rules:
  - id: allow-in-plan
    match: { inPlan: true }
    decision: allow
`;

/**
 * The same with a person before what moves money, sends mail, shares, invites or deletes: by what the tools are for, and
 * without a look at any attack. Whether a call waits depends on its tool alone: the outcomes rest on that.
 */
export const HOLD_SIDE_EFFECTS = `
version: 1
default: block
rules:
  - id: hold-money
    match: { tool: [send_money, "*schedule*_transaction"] }
    decision: hold
    approvers: { self: true }
  - id: hold-mail
    match: { tool: send_email }
    decision: hold
    approvers: { self: true }
  - id: hold-sharing
    match: { tool: [share_file, post_webpage] }
    decision: hold
    approvers: { self: true }
  - id: hold-inviting
    match: { tool: ["invite_*", add_user_to_channel, add_calendar_event_participants] }
    decision: hold
    approvers: { self: true }
  - id: hold-deleting
    match: { tool: ["delete_*", "cancel_*", "remove_*"] }
    decision: hold
    approvers: { self: true }
  - id: allow-in-plan
    match: { inPlan: true }
    decision: allow
`;
