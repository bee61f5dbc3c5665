// Not exported: `check()` is what the package offers, and the policy is one of its parts.
import { type CompiledRule, compilePolicy } from "../../../src/core/compile-policy.ts";
import { newMatching } from "../../../src/core/matching.ts";
import { parsePolicy } from "../../../src/core/parse-policy.ts";
import type { Engine, PeerCall } from "../engine.ts";

/** As many tools as a policy itself remembers. */
const MAX_TOOLS = 1000;
const NO_PINS = new Map();

/** The policy part of `check()` alone: as an opened token does, it remembers the rules for its person by tool. */
export const ours: Engine = {
  name: "Intentlock, the policy alone",
  async compile(rules) {
    const policy = compilePolicy(parsePolicy(JSON.stringify({ version: 1, default: "block", rules })));
    let person: PeerCall["user"] | undefined;
    const known = new Map<string, readonly CompiledRule[]>();
    return {
      request: (call) => call,
      decide({ tool, args, user }: PeerCall) {
        if (user !== person) {
          known.clear();
          person = user;
        }
        let found = known.get(tool);
        if (!found) {
          if (known.size >= MAX_TOOLS) known.clear();
          found = policy.rulesFor(tool, user);
          known.set(tool, found);
        }
        const call = { args, pins: NO_PINS, matching: newMatching() };
        for (const { rule, matches } of found) if (matches(call)) return rule.id;
        return undefined;
      },
    };
  },
};
