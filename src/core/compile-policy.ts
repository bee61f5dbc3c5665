import type { User } from "./claims.ts";
import type { MatchBudget } from "./condition.ts";
import { compileGlob } from "./glob.ts";
import type { JsonObject } from "./json.ts";
import { normalizeEmail } from "./names.ts";
import { type CompiledArgs, compileArgs, findFailingArg } from "./plan.ts";
import { compileEmailGlob, type Match, type Policy, type PolicyRule } from "./policy.ts";
import type { TextMatcher } from "./text-matcher.ts";
import { indexByTool } from "./tool-index.ts";

/** A policy whose rules are found by the name of a tool, so that a decision does not look at the rules for others. */
export interface CompiledPolicy {
  /** The rules that may match calls of this tool by this person, in order. Their arguments are left to check. */
  rulesFor(tool: string, user: User): readonly CompiledRule[];
}

/** A rule for one tool and one person. */
export interface CompiledRule {
  readonly rule: PolicyRule;
  readonly matches: (args: JsonObject, budget: MatchBudget) => boolean;
}

/** Compiles a policy once; the same object gives the same result. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  const known = compiled.get(policy);
  if (known) return known;
  const made = makePolicy(policy);
  compiled.set(policy, made);
  return made;
}

const compiled = new WeakMap<Policy, CompiledPolicy>();

/** How many tools' rules are remembered: more than a plan has steps, and few enough for ever new names. */
const MAX_TOOLS = 1000;

function makePolicy(policy: Policy): CompiledPolicy {
  const globs = new Map<string, TextMatcher>();
  const rules = policy.rules.map((rule) => ({
    rule,
    match: compileMatch(rule.match, globs),
    except: rule.except && compileMatch(rule.except, globs),
  }));
  const index = indexByTool(rules, ({ rule: { match } }) =>
    match.tool === undefined ? undefined : [match.tool].flat(),
  );
  const byTool = new Map<string, typeof rules>();

  function rulesOf(tool: string): typeof rules {
    const known = byTool.get(tool);
    if (known) return known;
    const answers = new Map<TextMatcher, boolean>();
    const found = index.candidates(tool).filter(({ match }) => match.matchesTool(tool, answers));
    if (byTool.size >= MAX_TOOLS) byTool.clear();
    byTool.set(tool, found);
    return found;
  }

  return {
    rulesFor(tool, user) {
      const found: CompiledRule[] = [];
      for (const { rule, match, except } of rulesOf(tool)) {
        if (!match.matchesUser(user)) continue;
        const excepted = except?.matchesTool(tool, new Map()) && except.matchesUser(user) ? except.args : undefined;
        // An exception without arguments takes every call of this tool and person from the rule.
        if (excepted?.length === 0) continue;
        found.push({ rule, matches: matchesArgs(match.args, excepted) });
        // Nothing after a rule that matches every call can decide.
        if (match.args.length === 0 && !excepted) break;
      }
      return found;
    },
  };
}

function matchesArgs(match: CompiledArgs, except: CompiledArgs | undefined): CompiledRule["matches"] {
  if (!except) {
    return match.length === 0 ? () => true : (args, budget) => findFailingArg(match, args, budget) === undefined;
  }
  return (args, budget) =>
    findFailingArg(match, args, budget) === undefined && findFailingArg(except, args, budget) !== undefined;
}

interface CompiledMatch {
  readonly args: CompiledArgs;
  matchesTool(tool: string, answers: Map<TextMatcher, boolean>): boolean;
  matchesUser(user: User): boolean;
}

/** @param globs the tool globs compiled so far: rules often share them */
function compileMatch(match: Match, globs: Map<string, TextMatcher>): CompiledMatch {
  const tools = match.tool === undefined ? undefined : [match.tool].flat().map((pattern) => sharedGlob(pattern, globs));
  const email = match.user?.email === undefined ? undefined : compileEmailGlob(match.user.email);
  const { role, group } = match.user ?? {};
  return {
    args: compileArgs(match.args),
    // The policy sees calls that are in the plan only.
    matchesTool: (tool, answers) =>
      match.inPlan !== false && (tools?.some((glob) => answer(glob, tool, answers)) ?? true),
    matchesUser: (user) =>
      (email === undefined || email.matches(normalizeEmail(user.email) ?? "")) &&
      (role === undefined || user.roles.includes(role)) &&
      (group === undefined || user.groups.includes(group)),
  };
}

function sharedGlob(pattern: string, globs: Map<string, TextMatcher>): TextMatcher {
  const glob = globs.get(pattern) ?? compileGlob(pattern);
  globs.set(pattern, glob);
  return glob;
}

function answer(glob: TextMatcher, tool: string, answers: Map<TextMatcher, boolean>): boolean {
  const known = answers.get(glob);
  if (known !== undefined) return known;
  const matches = glob.matches(tool);
  answers.set(glob, matches);
  return matches;
}
