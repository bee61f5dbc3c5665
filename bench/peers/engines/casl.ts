import type { PolicyCondition, PolicyRule } from "intentlock/core";
import { conditionsOf, type Engine, globSource, loadPeer, type PeerCall, toolOf, Unsupported } from "../engine.ts";

interface Casl {
  createMongoAbility(rules: readonly unknown[]): {
    relevantRuleFor(action: string, subject: unknown): { readonly reason?: string } | null;
  };
  subject(type: string, value: object): unknown;
}

/** Names that are exact are actions, which it has an index of. Its last rule wins, so that they are given backwards. */
export const casl: Engine = {
  name: "CASL",
  async compile(rules) {
    const { createMongoAbility, subject } = loadPeer<Casl>("@casl/ability");
    const ability = createMongoAbility(rules.toReversed().map(toCaslRule));
    const names = new Set(rules.flatMap((rule) => conditionsOf(rule).map(([name]) => name)));
    return {
      request({ tool, args, user }: PeerCall) {
        for (const [name, value] of Object.entries(args)) {
          if (names.has(name) && Array.isArray(value))
            throw new Unsupported("a list where a rule looks: it looks inside");
        }
        return { tool, call: subject("Call", { tool, args, user }) };
      },
      decide: ({ tool, call }: { readonly tool: string; readonly call: unknown }) =>
        ability.relevantRuleFor(tool, call)?.reason,
    };
  },
};

function toCaslRule(rule: PolicyRule): unknown {
  const tool = toolOf(rule);
  const role = rule.match.user?.role;
  const conditions = {
    ...("prefix" in tool && { tool: { $regex: new RegExp(globSource(`${tool.prefix}*`)) } }),
    ...Object.fromEntries(conditionsOf(rule).map(([name, condition]) => [toPath(name), toQuery(condition)])),
    ...(role !== undefined && { "user.roles": role }),
  };
  return {
    action: "exact" in tool ? tool.exact : "manage",
    subject: "Call",
    inverted: rule.decision !== "allow",
    reason: rule.id,
    ...(Object.keys(conditions).length > 0 && { conditions }),
  };
}

function toPath(name: string): string {
  if (name.includes(".")) throw new Unsupported("a dot in the name of an argument");
  return `args.${name}`;
}

function toQuery(condition: PolicyCondition): unknown {
  const operators = Object.entries(condition).map(([operator, wanted]) => {
    switch (operator) {
      case "eq":
        return ["$eq", wanted];
      case "in":
        return ["$in", wanted];
      case "notIn":
        return ["$nin", wanted];
      case "glob":
        return ["$regex", new RegExp(globSource(wanted))];
      case "regex":
        return ["$regex", new RegExp(`^(?:${wanted})$`)];
      case "notGlob":
        throw new Unsupported("notGlob: its own operators have no negation of one");
      default:
        throw new Unsupported(`${operator}: text counts as a number`);
    }
  });
  return Object.fromEntries(operators);
}
