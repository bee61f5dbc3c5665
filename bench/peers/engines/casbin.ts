import { type Engine, loadPeer, type PeerCall } from "../engine.ts";
import { compilePredicate } from "../predicates.ts";

interface Casbin {
  newModelFromString(text: string): unknown;
  readonly StringAdapter: new (text: string) => unknown;
  newEnforcer(model: unknown, adapter: unknown): Promise<Enforcer>;
}

interface Enforcer {
  addFunction(name: string, run: (...values: never[]) => unknown): Promise<void>;
  enforceExSync(...values: unknown[]): [allowed: boolean, explanation: readonly string[]];
}

/** The first policy that matches decides. */
const MODEL = `
[request_definition]
r = tool, call
[policy_definition]
p = id, tool, eft
[policy_effect]
e = priority(p.eft) || deny
[matchers]
m = keyMatch(r.tool, p.tool) && holds(p.id, r.call)
`;

/**
 * Names by its own keyMatch. Conditions are a function by hand: expressions in policies would be compiled again for each
 * call. A hold is none of its effects: it says which policy matched, and what that decides is looked up outside.
 */
export const casbin: Engine = {
  name: "casbin",
  async compile(rules) {
    const { newModelFromString, StringAdapter, newEnforcer } = loadPeer<Casbin>("casbin");
    const lines = rules.map(
      ({ id, match, decision }) => `p, ${id}, ${match.tool}, ${decision === "allow" ? "allow" : "deny"}`,
    );
    const enforcer = await newEnforcer(newModelFromString(MODEL), new StringAdapter(lines.join("\n")));
    const predicates = new Map(rules.map((rule) => [rule.id, compilePredicate(rule)]));
    await enforcer.addFunction("holds", (id: string, call: PeerCall) => predicates.get(id)?.(call) ?? false);
    return {
      request: (call) => call,
      decide: (call: PeerCall) => enforcer.enforceExSync(call.tool, call)[1][0],
    };
  },
};
