// Not exported: `check()` is what the package offers, and the policy is one of its parts.
import { compilePolicy } from "../../../src/core/compile-policy.ts";
import { newMatching } from "../../../src/core/matching.ts";
import { parsePolicy } from "../../../src/core/parse-policy.ts";
import type { Engine, PeerCall } from "../engine.ts";

/** The policy part of `check()` alone. An opened token remembers the rules for its person by the tools of the plan; this does not. */
export const ours: Engine = {
  name: "Intentlock, the policy alone",
  async compile(rules) {
    const policy = compilePolicy(parsePolicy(JSON.stringify({ version: 1, default: "block", rules })));
    return {
      request: (call) => call,
      decide({ tool, args, user }: PeerCall) {
        const matching = newMatching(args);
        for (const { rule, matches } of policy.rulesFor(tool, user)) if (matches(matching)) return rule.id;
        return undefined;
      },
    };
  },
};
