import { tryToolCall } from "./budget.ts";
import { type Call, digestCall, type Evidence, isShortText } from "./call.ts";
import { type CompiledStep, findMismatch } from "./compile-plan.ts";
import type { CompiledRule } from "./compile-policy.ts";
import type { CompiledToken, CompiledTool } from "./compile-token.ts";
import { copyJson, isJsonObject, type JsonObject, JsonProblem, MAX_ARGS_BYTES } from "./json.ts";
import { everyAt, parsePointer } from "./json-pointer.ts";
import { MatchBudgetExceeded, type Matching } from "./matching.ts";
import { isToolName } from "./names.ts";
import { isUnpinned } from "./pinned.ts";
import { type OpenedToken, ValidToken } from "./plan-token.ts";
import type { PolicyRule } from "./policy.ts";
import { MAX_SOURCE_MATCHES, type SourceGrounds } from "./sources/find-source.ts";
import { RecordedSources } from "./sources/recorded-sources.ts";
import { TaskText } from "./sources/task-text.ts";
import { MAX_MATCH_WORK } from "./text-matcher.ts";
import {
  type Block,
  blockDecision,
  type CallName,
  type Decision,
  type DecisionGrounds,
  type HoldDecision,
  nameCall,
} from "./verdict.ts";

/** How long after its expiry a token still counts, in seconds: clocks differ. */
export const LEEWAY_SECONDS = 30;

export interface CheckInput {
  /** What `openPlanToken()` returned, valid or not. */
  readonly token: OpenedToken;
  readonly call: Call;
  /** How many calls each step of the plan has taken so far, by the step's index. */
  readonly used: readonly number[];
  /** Seconds since the epoch. */
  readonly now: number;
  readonly evidence?: Evidence;
}

/**
 * Decides about one call. Pure and synchronous, the same on every machine: token, plan, limits, policy, budget, and the
 * first failure wins. It never throws because of what it is given: anything unexpected is a block, `internal_error`.
 */
export function check(input: CheckInput): Decision {
  try {
    return decide(input);
  } catch (error) {
    return blockDecision(nameInput(input), describeTrouble(error));
  }
}

function decide(input: CheckInput): Decision {
  // Everything is read once, so that a getter cannot answer twice differently.
  const { token: opened, call: given, used, now, evidence } = input;
  const token = ValidToken.compiled(opened);
  if (!token) {
    return blockDecision(nameCall(given, ""), { reason: "invalid_token", stage: "token", detail: tokenDetail(opened) });
  }
  const { claims } = token;
  const { planId } = claims;
  if (!Number.isFinite(now)) throw new TypeError("now is not a time");
  if (now >= claims.exp + LEEWAY_SECONDS) {
    const detail = "the plan token has expired";
    return blockDecision(nameCall(given, planId), { reason: "token_expired", stage: "token", detail });
  }
  const { callId, tool, args: unread, fingerprint } = given;
  // A name that the plan has is well-formed: the plan was checked.
  const entry = typeof tool === "string" ? token.tool(tool) : undefined;
  if (
    !isShortText(callId) ||
    !(entry || isToolName(tool)) ||
    !(fingerprint === undefined || isShortText(fingerprint))
  ) {
    const detail = "the call id, the tool's name or its fingerprint is not well-formed";
    return blockDecision(nameCall({ callId, tool }, planId), malformed(detail));
  }
  const args = copyJson(unread, MAX_ARGS_BYTES);
  if (!isJsonObject(args)) throw new JsonProblem([], "not an object");
  return decideParsed(token, entry, {
    callId,
    tool,
    args,
    lastName: undefined,
    lastValue: undefined,
    fingerprint,
    planId,
    used,
    now,
    evidence,
    left: MAX_MATCH_WORK,
    step: undefined,
    grounds: undefined,
  });
}

/** A call with all that its decision needs: one object, since making one is a good part of what deciding costs. */
interface ParsedCall extends CallName, Matching {
  readonly fingerprint: string | undefined;
  readonly used: readonly number[];
  readonly now: number;
  readonly evidence: Evidence | undefined;
}

/** @param entry what the token says of the tool */
function decideParsed(token: CompiledToken, entry: CompiledTool | undefined, call: ParsedCall): Decision {
  if (!entry) {
    const detail = `no step of the plan uses ${call.tool}`;
    return blockDecision(call, { reason: "not_in_plan", stage: "plan", detail });
  }
  if (entry.fingerprint !== undefined && entry.fingerprint !== call.fingerprint) {
    const detail = `${call.tool} has another description or schema now`;
    return blockDecision(call, { reason: "tool_changed", stage: "plan", detail });
  }
  if (token.trusted) call.grounds = findGrounds(token.trusted, token.claims, call.evidence);
  const step = chooseStep(entry.steps, call);
  if (typeof step !== "number") return blockDecision(call, step);
  const rule = findRule(entry.rules, call);
  const hasGrounds = call.grounds !== undefined || (rule !== undefined && rule.unpinned.length > 0);
  const grounds = hasGrounds ? describeGrounds(rule, call) : undefined;
  if (!rule) {
    const detail = "no rule of the policy allows it";
    return blockDecision(call, { reason: "no_matching_rule", stage: "policy", detail, step, grounds });
  }
  return applyRule(token, call, { rule: rule.rule, step, grounds, approvedBy: undefined });
}

/** What values may have been copied from, for a plan that asks for that. */
function findGrounds(
  trusted: SourceGrounds["trusted"],
  { task: digest }: CompiledToken["claims"],
  { task, results, recorded }: Evidence = {},
): SourceGrounds {
  const lacksTask = task === undefined;
  const fromRecord = recorded && new RecordedSources(recorded, { trusted, lacksTask });
  if (fromRecord?.tookTooMuch) throw new MatchBudgetExceeded();
  return { task: TaskText.indexOf(task, digest), lacksTask, results, recorded: fromRecord, trusted, found: [] };
}

function describeGrounds(rule: CompiledRule | undefined, matching: Matching): DecisionGrounds | undefined {
  const grounds = describeSources(matching);
  if (!rule || rule.unpinned.length === 0) return grounds;
  const unpinned = rule.unpinned.filter((target) => isUnpinned(target, matching)).map(({ name }) => name);
  return unpinned.length > 0 ? { ...grounds, unpinned } : grounds;
}

/** Each place and source once, as a list of a thousand addresses may come from one result. */
function describeSources({ grounds }: Matching): DecisionGrounds | undefined {
  if (!grounds || grounds.found.length === 0) return undefined;
  const { found } = grounds;
  const sources = new Map(found.map(({ match }) => [JSON.stringify(match), match]));
  if (sources.size > MAX_SOURCE_MATCHES) throw new MatchBudgetExceeded();
  return { sources: [...sources.values()] };
}

function findRule(rules: readonly CompiledRule[], matching: Matching): CompiledRule | undefined {
  for (const rule of rules) if (rule.matches(matching)) return rule;
  return undefined;
}

/** The first step that matches and has calls left, or why there is none. */
function chooseStep(steps: readonly CompiledStep[], call: ParsedCall): number | Block {
  const { used } = call;
  if (!Array.isArray(used)) throw new TypeError("used is not a list");
  let usedUp: Pick<Block, "step" | "grounds"> | undefined;
  let failing: string | undefined;
  for (const step of steps) {
    const place = findMismatch(step, call);
    if (place !== undefined) {
      // What the call has says more than what another step wants.
      if (failing === undefined || (!isThere(failing, call.args) && isThere(place, call.args))) failing = place;
      continue;
    }
    const taken = used[step.index];
    if (!Number.isSafeInteger(taken) || (taken as number) < 0) throw new TypeError("used does not count every step");
    if ((taken as number) < step.maxCalls) return step.index;
    usedUp ??= { step: step.index, grounds: describeSources(call) };
  }
  return explainNoStep(call, usedUp, failing ?? "");
}

function explainNoStep(
  { tool, args }: ParsedCall,
  usedUp: Pick<Block, "step" | "grounds"> | undefined,
  failing: string,
): Block {
  if (usedUp) {
    const detail = `the calls of ${tool} that the plan allows are used up`;
    return { reason: "call_limit", stage: "limits", detail, ...usedUp };
  }
  const how = isThere(failing, args) ? "with this value of" : "without";
  const detail = `the plan has ${tool}, but not ${how} ${JSON.stringify(printPlace(failing).slice(0, 100))}`;
  return { reason: "not_in_plan", stage: "plan", detail };
}

/** Whether the arguments have something at a pointer, or in its way. */
function isThere(place: string, args: JsonObject): boolean {
  return !everyAt(args, parsePointer(place) ?? [], (found) => found === undefined);
}

/** An argument by its name, a place in one by its pointer. */
function printPlace(place: string): string {
  const pointer = parsePointer(place) ?? [];
  return pointer.length === 1 ? (pointer[0] as string) : place;
}

/** What decides about a call that is in the plan. */
interface Chosen {
  readonly rule: PolicyRule;
  readonly step: number;
  readonly grounds: DecisionGrounds | undefined;
  /** Who approved the call, if the rule holds it. */
  readonly approvedBy: string | undefined;
}

function applyRule(token: CompiledToken, call: ParsedCall, chosen: Chosen): Decision {
  const { rule } = chosen;
  switch (rule.decision) {
    case "block": {
      const detail = rule.reason ?? `a rule forbids ${call.tool} here`;
      const { step, grounds } = chosen;
      return blockDecision(call, { reason: rule.id, stage: "policy", detail, step, rule: rule.id, grounds });
    }
    case "hold": {
      const approvedBy = findApproval(rule.id, call);
      return approvedBy === undefined ? holdCall(call, chosen) : allowCall(token, call, { ...chosen, approvedBy });
    }
    case "allow":
      return allowCall(token, call, chosen);
    default:
      rule.decision satisfies never;
      throw new TypeError("unknown decision");
  }
}

function holdCall({ callId, tool, planId }: ParsedCall, { rule, step, grounds }: Chosen): HoldDecision {
  const { approvers = {}, timeoutSeconds = 300, reason } = rule;
  const hold = { verdict: "hold", callId, tool, planId, step, rule: rule.id, approvers, timeoutSeconds } as const;
  const explained = reason === undefined ? hold : { ...hold, ruleReason: reason };
  return grounds ? { ...explained, ...grounds } : explained;
}

/** Last, what the call takes from the budget. */
function allowCall(
  { claims: { budget, sub } }: CompiledToken,
  call: ParsedCall,
  { rule, step, grounds, approvedBy }: Chosen,
): Decision {
  const { callId, tool, planId } = call;
  const allow = { verdict: "allow", callId, tool, planId, step, rule: rule.id, budgetRemaining: null } as const;
  if (approvedBy === undefined && budget === undefined && !grounds) return allow;
  const approved = { ...allow, ...(approvedBy !== undefined && { approvedBy }), ...grounds };
  if (budget === undefined) return approved;
  const answer = tryToolCall(call.evidence?.ledger, budget, call);
  if (answer.refused !== undefined) {
    const block = { reason: "budget_exhausted", stage: "budget", detail: answer.refused, step, grounds } as const;
    return blockDecision(call, block);
  }
  const { remaining: budgetRemaining, payoutMicros } = answer;
  const taken = { ...approved, budgetRemaining, payoutMicros };
  return budget.principal ? { ...taken, principalId: sub } : taken;
}

/** Who approved exactly this call, under exactly this rule of this plan, in time. */
function findApproval(rule: string, call: ParsedCall): string | undefined {
  const { evidence, now } = call;
  const approval = evidence?.approval;
  if (!approval || approval.rule !== rule || approval.planId !== call.planId || !(now < approval.exp)) return undefined;
  if (approval.fingerprint !== call.fingerprint || approval.digest !== digestCall(call)) return undefined;
  return approval.approvedBy;
}

/** Fail closed: whatever was thrown while deciding is a block. Its words stay here: they may quote what nobody should read. */
function describeTrouble(error: unknown): Block {
  try {
    if (error instanceof JsonProblem) {
      const place = error.path ? ` at ${error.path}` : "";
      return malformed(`the arguments are not an object of strict JSON${place}: ${error.message}`);
    }
    if (error instanceof MatchBudgetExceeded) {
      return malformed("the arguments are too large for the patterns that they have to be matched with");
    }
  } catch {
    // What a getter threw can itself throw when it is looked at.
  }
  return { reason: "internal_error", stage: "gate", detail: "an error happened while deciding" };
}

function malformed(detail: string): Block {
  return { reason: "invalid_call", stage: "parse", detail };
}

function tokenDetail(token: OpenedToken | undefined): string {
  return token?.valid === false && typeof token.detail === "string"
    ? `the plan token is not valid: ${token.detail}`
    : "the plan token was not opened";
}

function nameInput(input: CheckInput): CallName {
  try {
    return nameCall(input.call, ValidToken.compiled(input.token)?.claims.planId ?? "");
  } catch {
    return nameCall(undefined, "");
  }
}
