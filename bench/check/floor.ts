import { NOW, type Scenario, type SimpleRule } from "./scenario.ts";

/**
 * The least code that makes the same kind of decision, by hand: what `check()` is measured against. It knows the token by
 * its string, then the expiry, the step of the plan in a Map, the step's argument and count, the rules of the tool, and
 * makes a decision object.
 *
 * It leaves out what a first version by hand would: the arguments are looked at where a step or rule asks for them, own
 * properties only, but they are neither copied nor checked to be strict JSON (with `copies` they are: both are the price
 * of arguments that nobody has frozen); the call id and the tool's name are checked
 * to be strings and no more; a condition is an exact string or a prefix.
 */
export interface FloorInput {
  readonly token: string;
  readonly call: { readonly callId: string; readonly tool: string; readonly args: unknown };
  readonly used: readonly number[];
  readonly now: number;
}

export interface FloorDecision {
  readonly verdict: "allow" | "block";
  readonly callId: string;
  readonly tool: string;
  readonly planId: string;
  readonly step: number;
  readonly rule: string;
  readonly message: string;
}

type Condition = (value: unknown) => boolean;

interface Step {
  readonly index: number;
  readonly maxCalls: number;
  readonly repo: Condition;
}

interface Rule {
  readonly index: number;
  readonly id: string;
  readonly repo: Condition | undefined;
}

interface FloorToken {
  readonly planId: string;
  readonly exp: number;
  readonly steps: ReadonlyMap<string, readonly Step[]>;
  readonly findRule: (tool: string, args: object) => Rule | undefined;
}

export type Floor = (input: FloorInput) => FloorDecision;

export interface FloorOptions {
  /** Remember the rules of each tool's name; otherwise each call looks in a map and a prefix trie. */
  readonly memo: boolean;
  /** Copy the arguments as strict JSON before they are looked at, reading each property once. */
  readonly copies: boolean;
}

export function makeFloor(token: string, scenario: Scenario, options: FloorOptions): Floor {
  const opened = compile(scenario, options.memo);
  let lastToken = token;
  let last: FloorToken | undefined = opened;
  const known = new Map([[token, opened]]);
  return (input) => {
    if (input.token !== lastToken) {
      last = known.get(input.token);
      lastToken = input.token;
    }
    return last ? decide(last, input, options.copies) : block(input.call, "", "the plan token is not valid");
  };
}

function decide(token: FloorToken, { call, used, now }: FloorInput, copies: boolean): FloorDecision {
  if (now >= token.exp + 30) return block(call, token.planId, "the plan token has expired");
  const { callId, tool } = call;
  const args = copies ? copyStrictly(call.args, 0) : call.args;
  if (typeof callId !== "string" || typeof tool !== "string" || !isObject(args)) {
    return block(call, token.planId, "the call is malformed");
  }
  const step = chooseStep(token.steps.get(tool), args, used);
  if (!step) return block(call, token.planId, `no step of the plan allows ${tool}`);
  const rule = token.findRule(tool, args);
  if (!rule) return block(call, token.planId, "no rule of the policy allows it");
  return { verdict: "allow", callId, tool, planId: token.planId, step: step.index, rule: rule.id, message: "" };
}

function chooseStep(steps: readonly Step[] | undefined, args: object, used: readonly number[]): Step | undefined {
  if (!steps) return undefined;
  for (const step of steps) {
    if (step.repo(repoOf(args)) && (used[step.index] as number) < step.maxCalls) return step;
  }
  return undefined;
}

function block({ callId, tool }: FloorInput["call"], planId: string, detail: string): FloorDecision {
  return { verdict: "block", callId, tool, planId, step: -1, rule: "", message: `Blocked: ${detail}` };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function copyStrictly(value: unknown, depth: number): unknown {
  if (typeof value === "string" && value.isWellFormed()) return value;
  if ((typeof value === "number" && Number.isFinite(value)) || typeof value === "boolean" || value === null)
    return value;
  if (typeof value !== "object" || depth > 100) throw new TypeError("not JSON");
  if (Array.isArray(value)) return value.map((item) => copyStrictly(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError("not JSON");
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__" || !key.isWellFormed()) throw new TypeError("not JSON");
    copy[key] = copyStrictly((value as Record<string, unknown>)[key], depth + 1);
  }
  return copy;
}

function repoOf(args: object): unknown {
  return Object.hasOwn(args, "repo") ? (args as { repo: unknown }).repo : undefined;
}

function compile({ steps, rules }: Scenario, memo: boolean): FloorToken {
  const byTool = new Map<string, Step[]>();
  for (const [index, { tool, repo }] of steps.entries()) {
    const step = { index, maxCalls: 1_000_000, repo: compileCondition(repo) };
    byTool.set(tool, [...(byTool.get(tool) ?? []), step]);
  }
  const findRule = memo ? findByMemo(rules) : findByTrie(rules);
  return { planId: "plan-1", exp: NOW + 900, steps: byTool, findRule };
}

function compileCondition(pattern: string): Condition {
  if (!pattern.endsWith("*")) return (value) => value === pattern;
  const prefix = pattern.slice(0, -1);
  return (value) => typeof value === "string" && value.startsWith(prefix) && value.indexOf("/", prefix.length) === -1;
}

function compileRule({ id, repo }: SimpleRule, index: number): Rule {
  return { index, id, repo: repo === undefined ? undefined : compileCondition(repo) };
}

function matches(rule: Rule, args: object): boolean {
  return rule.repo === undefined || rule.repo(repoOf(args));
}

function findByMemo(rules: readonly SimpleRule[]): FloorToken["findRule"] {
  const compiled = rules.map((rule, index) => ({ tool: compileCondition(rule.tool), rule: compileRule(rule, index) }));
  const memo = new Map<string, readonly Rule[]>();
  return (tool, args) => {
    let found = memo.get(tool);
    if (!found) {
      found = compiled.filter((entry) => entry.tool(tool)).map(({ rule }) => rule);
      if (memo.size >= 1000) memo.clear();
      memo.set(tool, found);
    }
    for (const rule of found) if (matches(rule, args)) return rule;
    return undefined;
  };
}

interface TrieNode {
  readonly rules: Rule[];
  readonly next: Map<number, TrieNode>;
}

function findByTrie(rules: readonly SimpleRule[]): FloorToken["findRule"] {
  const exact = new Map<string, Rule[]>();
  const root: TrieNode = { rules: [], next: new Map() };
  for (const [index, rule] of rules.entries()) {
    const compiled = compileRule(rule, index);
    if (rule.tool.endsWith("*")) addPrefix(root, rule.tool.slice(0, -1), compiled);
    else exact.set(rule.tool, [...(exact.get(rule.tool) ?? []), compiled]);
  }
  return (tool, args) => {
    let best = firstMatch(exact.get(tool), args, undefined);
    let node: TrieNode | undefined = root;
    for (let at = 0; node; at++) {
      if (node.rules.length > 0) best = firstMatch(node.rules, args, best);
      node = at < tool.length ? node.next.get(tool.charCodeAt(at)) : undefined;
    }
    return best;
  };
}

/** The first rule that matches, if it stands before the best one so far. */
function firstMatch(rules: readonly Rule[] | undefined, args: object, best: Rule | undefined): Rule | undefined {
  if (!rules) return best;
  for (const rule of rules) {
    if (best && rule.index > best.index) return best;
    if (matches(rule, args)) return rule;
  }
  return best;
}

function addPrefix(root: TrieNode, prefix: string, rule: Rule): void {
  let node = root;
  for (let at = 0; at < prefix.length; at++) {
    const code = prefix.charCodeAt(at);
    const next = node.next.get(code) ?? { rules: [], next: new Map() };
    node.next.set(code, next);
    node = next;
  }
  node.rules.push(rule);
}
