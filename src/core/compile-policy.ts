import type { User } from "./claims.ts";
import { type CompiledArgs, compileArgs, findFailing } from "./compile-condition.ts";
import { compileGlob } from "./glob.ts";
import type { JsonObject } from "./json.ts";
import type { Matching } from "./matching.ts";
import { normalizeEmail } from "./names.ts";
import { compileTarget, isUnpinned, type StepPins, type Target } from "./pinned.ts";
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
  readonly matches: (call: PlannedCall) => boolean;
  /** The arguments that the rule asks about, if it matches because nothing has fixed them. */
  readonly unpinned: readonly Target[];
}

/** A call that a step of the plan allows. */
export interface PlannedCall {
  readonly args: JsonObject;
  readonly pins: StepPins;
  readonly matching: Matching;
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
        const excepted = except?.matchesTool(tool, new Map()) && except.matchesUser(user) ? except : undefined;
        // An exception that says no more takes every call of this tool and person from the rule.
        if (excepted && isMet(excepted)) continue;
        found.push({ rule, matches: matchesCall(match, excepted), unpinned: match.unpinned });
        // Nothing after a rule that matches every call can decide.
        if (isMet(match) && !excepted) break;
      }
      return found;
    },
  };
}

/** Whether a match that has the right tool and person asks for nothing else. */
function isMet({ args, unpinned }: CompiledMatch): boolean {
  return args.length === 0 && unpinned.length === 0;
}

function matchesCall(match: CompiledMatch, except: CompiledMatch | undefined): CompiledRule["matches"] {
  if (except) return (call) => meets(match, call) && !meets(except, call);
  return isMet(match) ? () => true : (call) => meets(match, call);
}

function meets({ args, unpinned }: CompiledMatch, call: PlannedCall): boolean {
  return (
    findFailing(args, call.args, call.matching) === undefined &&
    (unpinned.length === 0 || unpinned.some((target) => isUnpinned(target, call)))
  );
}

interface CompiledMatch {
  readonly args: CompiledArgs;
  readonly unpinned: readonly Target[];
  matchesTool(tool: string, answers: Map<TextMatcher, boolean>): boolean;
  matchesUser(user: User): boolean;
}

/** @param globs the tool globs compiled so far: rules often share them */
function compileMatch(match: Match, globs: Map<string, TextMatcher>): CompiledMatch {
  const tools = match.tool === undefined ? undefined : [match.tool].flat().map((pattern) => sharedGlob(pattern, globs));
  const email = match.user?.email === undefined ? undefined : compileEmailGlob(match.user.email);
  const { role, group } = match.user ?? {};
  return {
    args: compileArgs(match),
    unpinned: (match.unpinned ?? []).map(compileTarget),
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
