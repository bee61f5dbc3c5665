import type { Json, PolicyCondition, PolicyRule } from "intentlock/core";
import { conditionsOf, globSource, type PeerCall } from "./engine.ts";

type Test = (value: Json | undefined) => boolean;

/** What a rule asks of the arguments and the person, as closures by hand. The tool is left out. */
export function compilePredicate(rule: PolicyRule): (call: PeerCall) => boolean {
  const args = conditionsOf(rule).map(([name, condition]) => ({ name, tests: compileTests(condition) }));
  const role = rule.match.user?.role;
  return ({ args: given, user }) =>
    args.every(({ name, tests }) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      return tests.every((test) => test(value));
    }) &&
    (role === undefined || user.roles.includes(role));
}

/** Every operator with a plain scalar, as one would write it. */
function compileTests(condition: PolicyCondition): Test[] {
  const { eq, lte, gte, glob, notGlob, regex } = condition;
  const tests: Test[] = [];
  if (eq !== undefined) tests.push((value) => value === eq);
  const among = condition.in && new Set(condition.in);
  if (among) tests.push((value) => value !== undefined && among.has(value));
  const except = condition.notIn && new Set(condition.notIn);
  if (except) tests.push((value) => value === undefined || !except.has(value));
  if (glob !== undefined) tests.push(matchesText(globSource(glob)));
  if (notGlob !== undefined) {
    const matches = matchesText(globSource(notGlob));
    tests.push((value) => !matches(value));
  }
  if (regex !== undefined) tests.push(matchesText(`^(?:${regex})$`));
  if (lte !== undefined) tests.push((value) => typeof value === "number" && value <= lte);
  if (gte !== undefined) tests.push((value) => typeof value === "number" && value >= gte);
  return tests;
}

function matchesText(source: string): Test {
  const expression = new RegExp(source);
  return (value) => typeof value === "string" && expression.test(value);
}
