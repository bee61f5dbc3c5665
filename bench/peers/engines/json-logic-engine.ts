import type { PolicyRule } from "intentlock/core";
import { conditionsOf, type Engine, globSource, loadPeer, type PeerCall, toolOf } from "../engine.ts";

interface JsonLogic {
  readonly LogicEngine: new () => {
    addMethod(name: string, run: (values: never) => boolean, options: { sync: boolean }): void;
    build(logic: unknown): (data: unknown) => unknown;
  };
}

/** One `if` with a branch for each rule, from which it generates code. */
export const jsonLogicEngine: Engine = {
  name: "json-logic-engine",
  async compile(rules) {
    const engine = new (loadPeer<JsonLogic>("json-logic-engine").LogicEngine)();
    const expressions: RegExp[] = [];
    const matches = (value: unknown, index: number) =>
      typeof value === "string" && (expressions[index]?.test(value) ?? false);
    const methods: Record<string, (values: never) => boolean> = {
      startsWith: ([value, prefix]: [string, string]) => value.startsWith(prefix),
      matches: ([value, index]: [unknown, number]) => matches(value, index),
      matchesNot: ([value, index]: [unknown, number]) => !matches(value, index),
      lte: ([value, most]: [unknown, number]) => typeof value === "number" && value <= most,
      gte: ([value, least]: [unknown, number]) => typeof value === "number" && value >= least,
    };
    for (const [name, run] of Object.entries(methods)) engine.addMethod(name, run, { sync: true });
    const remember = (source: string) => expressions.push(new RegExp(source)) - 1;
    const branches = rules.flatMap((rule) => [{ and: toTests(rule, remember) }, rule.id]);
    const decide = engine.build({ if: [...branches, ""] });
    return {
      request: ({ tool, args, user }: PeerCall) => ({ tool, args, roles: user.roles }),
      decide: (data: unknown) => (decide(data) as string) || undefined,
    };
  },
};

function toTests(rule: PolicyRule, remember: (source: string) => number): unknown[] {
  const tool = toolOf(rule);
  const role = rule.match.user?.role;
  return [
    "exact" in tool ? { "===": [{ var: "tool" }, tool.exact] } : { startsWith: [{ var: "tool" }, tool.prefix] },
    ...conditionsOf(rule).flatMap(([name, condition]) => {
      const value = { var: `args.${name.replaceAll(".", "\\.")}` };
      return Object.entries(condition).map(([operator, wanted]) => toTest(operator, value, { wanted, remember }));
    }),
    ...(role === undefined ? [] : [{ in: [role, { var: "roles" }] }]),
  ];
}

function toTest(
  operator: string,
  value: unknown,
  { wanted, remember }: { readonly wanted: unknown; readonly remember: (source: string) => number },
): unknown {
  switch (operator) {
    case "eq":
      return { "===": [value, wanted] };
    case "in":
      return { in: [value, wanted] };
    case "notIn":
      return { "!": { in: [value, wanted] } };
    case "glob":
      return { matches: [value, remember(globSource(String(wanted)))] };
    case "notGlob":
      return { matchesNot: [value, remember(globSource(String(wanted)))] };
    case "regex":
      return { matches: [value, remember(`^(?:${wanted})$`)] };
    default:
      return { [operator]: [value, wanted] };
  }
}
