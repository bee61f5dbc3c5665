const WORDS: Readonly<Record<string, string>> = {
  "agent.create": "made the agent",
  "agent.disable": "disabled the agent",
  "agent.update": "changed the agent",
  "history.export": "exported",
  "hold.approve": "approved the hold",
  "hold.reject": "rejected the hold",
  "key.create": "made the key",
  "key.revoke": "revoked the key",
  "person.remove": "removed",
  "person.save": "saved",
  "plan.revoke": "revoked the plan",
  "policy.push": "published a policy of the agent",
  "sign-in-link.create": "made a sign-in link for",
  "signing-key.rotate": "made the signing key",
  "webhook.create": "made the webhook",
  "webhook.remove": "removed the webhook",
};

/** What somebody did, before the name of what they did it to. A later server does things that have no words here. */
export function describeAction(action: string): string {
  return Object.hasOwn(WORDS, action) ? WORDS[action]! : `${action}:`;
}
