import type { User } from "./claims.ts";
import { type CompiledArgs, compileArgs, findFailing } from "./compile-condition.ts";
import { compileGlob } from "./glob.ts";
import { type Matching, readArg } from "./matching.ts";
import { normalizeEmail } from "./names.ts";
import { compileTarget, isUnpinned, type Target } from "./pinned.ts";
import { compileEmailGlob, type Match, type Policy, type PolicyRule } from "./policy.ts";
import type { TextMatcher } from "./text-matcher.ts";
import { indexByTool } from "./tool-index.ts";

/** A policy whose rules are found by the name of a tool, so that a decision does not look at the rules for others. */
export interface CompiledPolicy {
  /**
   * The rules that may match calls of this tool by this person, in order. Their arguments are left to check.
   *
   * @param tool the name of a tool: {@link isToolName} holds for it
   */
  rulesFor(tool: string, user: User): readonly CompiledRule[];
}

/** A rule for one tool and one person. */
export interface CompiledRule {
  readonly rule: PolicyRule;
  /** Of a call that a step of the plan allows. */
  readonly matches: (matching: Matching) => boolean;
  /** The arguments that the rule asks about, if it matches because nothing has fixed them. */
  readonly unpinned: readonly Target[];
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

/** How many tools' rules are remembered: more than a plan has steps. */
const MAX_TOOLS = 1000;

/** A rule before it is known which tool and person it is asked about. */
interface PolicyPart {
  readonly match: CompiledMatch;
  readonly except: CompiledMatch | undefined;
  /** The rule where its exception does not apply. */
  readonly always: CompiledRule;
}

/** The rules that may concern some tools. */
interface ToolRules {
  readonly parts: readonly PolicyPart[];
  /** Each concerns them, whichever of these names they have. */
  readonly isCertain: boolean;
  /** The rules that are left, where they are the same for every person. */
  readonly forAll: readonly CompiledRule[] | undefined;
}

function makePolicy(policy: Policy): CompiledPolicy {
  const parts = compileParts(policy);
  const index = indexByTool(parts, { patternsOf: ({ match }) => match.patterns, prepare: prepareRules });
  const byTool = new Map<string, readonly PolicyPart[]>();

  /** The globs are asked once for each name. */
  function findParts(tool: string, { parts }: ToolRules): readonly PolicyPart[] {
    const known = byTool.get(tool);
    if (known) return known;
    const answers = new Map<TextMatcher, boolean>();
    const found = parts.filter(({ match }) => match.matchesTool(tool, answers));
    if (byTool.size >= MAX_TOOLS) byTool.clear();
    byTool.set(tool, found);
    return found;
  }

  return {
    rulesFor(tool, user) {
      const rules = index.candidates(tool);
      if (rules.isCertain && rules.forAll) return rules.forAll;
      const found: CompiledRule[] = [];
      for (const { match, except, always } of rules.isCertain ? rules.parts : findParts(tool, rules)) {
        if (!match.matchesUser(user)) continue;
        const excepted = except?.matchesTool(tool, new Map()) && except.matchesUser(user) ? except : undefined;
        // An exception that says no more takes every call of this tool and person from the rule.
        if (excepted && isMet(excepted)) continue;
        found.push(
          excepted
            ? {
                ...always,
                matches: (matching) => meets(match, matching) && !meets(excepted, matching),
              }
            : always,
        );
        // Nothing after a rule that matches every call can decide.
        if (isMet(match) && !excepted) break;
      }
      return found;
    },
  };
}

/** Calls here are in the plan, always: what is only about others is left out. */
function compileParts({ rules }: Policy): PolicyPart[] {
  const globs = new Map<string, TextMatcher>();
  return rules.flatMap((rule): PolicyPart[] => {
    if (rule.match.inPlan === false) return [];
    const match = compileMatch(rule.match, globs);
    const except = rule.except && rule.except.inPlan !== false ? compileMatch(rule.except, globs) : undefined;
    const matches: CompiledRule["matches"] = isMet(match) ? () => true : matchesArgs(match);
    return [{ match, except, always: { rule, matches, unpinned: match.unpinned } }];
  });
}

function prepareRules(parts: readonly PolicyPart[]): ToolRules {
  const isCertain = parts.every(({ match }) => match.patterns?.every((pattern) => PLAIN.test(pattern)) ?? true);
  const isForAll = parts.every(({ match, except }) => !except && match.isForAll);
  // Nothing after a rule that matches every call can decide.
  const last = parts.findIndex(({ match }) => isMet(match));
  const left = last === -1 ? parts : parts.slice(0, last + 1);
  return { parts, isCertain, forAll: isForAll ? left.map(({ always }) => always) : undefined };
}

/** A name, or how names begin: whether it matches a tool's name shows without a matcher. */
const PLAIN = /^[^*?[\]{}\\]*\*?$/;

/** Whether a match that has the right tool and person asks for nothing else. */
function isMet({ args, unpinned }: CompiledMatch): boolean {
  return args.length === 0 && unpinned.length === 0;
}

function matchesArgs(match: CompiledMatch): CompiledRule["matches"] {
  const { args: conditions, unpinned } = match;
  const [only] = conditions;
  // Most rules: without the loop, a decision costs a tenth less.
  if (only && conditions.length === 1 && unpinned.length === 0 && !only.pointer) {
    const { name, holds } = only;
    return (matching) => holds(readArg(matching, name), matching);
  }
  return unpinned.length > 0
    ? (matching) => meets(match, matching)
    : (matching) => findFailing(conditions, matching) === undefined;
}

function meets({ args: conditions, unpinned }: CompiledMatch, matching: Matching): boolean {
  return (
    findFailing(conditions, matching) === undefined &&
    (unpinned.length === 0 || unpinned.some((target) => isUnpinned(target, matching)))
  );
}

interface CompiledMatch {
  readonly args: CompiledArgs;
  readonly unpinned: readonly Target[];
  /** The tool globs; undefined: any tool. */
  readonly patterns: readonly string[] | undefined;
  /** It asks nothing of the person. */
  readonly isForAll: boolean;
  matchesTool(tool: string, answers: Map<TextMatcher, boolean>): boolean;
  matchesUser(user: User): boolean;
}

/** @param globs the tool globs compiled so far: rules often share them */
function compileMatch(match: Match, globs: Map<string, TextMatcher>): CompiledMatch {
  const patterns = match.tool === undefined ? undefined : [match.tool].flat();
  const tools = patterns?.map((pattern) => sharedGlob(pattern, globs));
  const email = match.user?.email === undefined ? undefined : compileEmailGlob(match.user.email);
  const { role, group } = match.user ?? {};
  return {
    args: compileArgs(match),
    unpinned: (match.unpinned ?? []).map(compileTarget),
    patterns,
    isForAll: match.user === undefined,
    matchesTool: (tool, answers) => tools?.some((glob) => answer(glob, tool, answers)) ?? true,
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
