import type { PolicyRule } from "intentlock/core";
import { conditionsOf, type Engine, globSource, loadPeer, type PeerCall, toolOf } from "../engine.ts";

interface JsonRulesEngine {
  readonly Engine: new (rules: readonly unknown[], options: { allowUndefinedFacts: boolean }) => RulesEngine;
}

interface RulesEngine {
  addRule(rule: unknown): void;
  addOperator(name: string, evaluate: (fact: never, value: never) => boolean): void;
  stop(): void;
  run(facts: object): Promise<{ readonly events: readonly { readonly type: string }[] }>;
}

const OPERATORS: Readonly<Record<string, string>> = { eq: "equal", in: "in", notIn: "notIn" };

/** One rule for each of its priorities, and the first that succeeds stops the run. Each argument is a fact. */
export const jsonRulesEngine: Engine = {
  name: "json-rules-engine",
  async compile(rules) {
    const engine = new (loadPeer<JsonRulesEngine>("json-rules-engine").Engine)([], { allowUndefinedFacts: true });
    const matches = (fact: unknown, expression: RegExp) => typeof fact === "string" && expression.test(fact);
    engine.addOperator("startsWith", (fact: string, prefix: string) => fact.startsWith(prefix));
    engine.addOperator("matches", matches);
    engine.addOperator("matchesNot", (fact: unknown, expression: RegExp) => !matches(fact, expression));
    engine.addOperator("lte", (fact: unknown, most: number) => typeof fact === "number" && fact <= most);
    engine.addOperator("gte", (fact: unknown, least: number) => typeof fact === "number" && fact >= least);
    for (const [index, rule] of rules.entries()) {
      const all = toConditions(rule);
      const onSuccess = () => engine.stop();
      engine.addRule({ conditions: { all }, event: { type: rule.id }, priority: rules.length - index, onSuccess });
    }
    return {
      request: ({ tool, args, user }: PeerCall) => ({
        tool,
        roles: user.roles,
        ...Object.fromEntries(Object.entries(args).map(([name, value]) => [`args ${name}`, value])),
      }),
      decide: async (facts: object) => (await engine.run(facts)).events[0]?.type,
    };
  },
};

function toConditions(rule: PolicyRule): unknown[] {
  const tool = toolOf(rule);
  const role = rule.match.user?.role;
  return [
    "exact" in tool
      ? { fact: "tool", operator: "equal", value: tool.exact }
      : { fact: "tool", operator: "startsWith", value: tool.prefix },
    ...conditionsOf(rule).flatMap(([name, condition]) =>
      Object.entries(condition).map(([operator, wanted]) => ({ fact: `args ${name}`, ...toTest(operator, wanted) })),
    ),
    ...(role === undefined ? [] : [{ fact: "roles", operator: "contains", value: role }]),
  ];
}

function toTest(operator: string, wanted: unknown): { operator: string; value: unknown } {
  if (operator === "glob") return { operator: "matches", value: new RegExp(globSource(String(wanted))) };
  if (operator === "notGlob") return { operator: "matchesNot", value: new RegExp(globSource(String(wanted))) };
  if (operator === "regex") return { operator: "matches", value: new RegExp(`^(?:${wanted})$`) };
  return { operator: OPERATORS[operator] ?? operator, value: wanted };
}
