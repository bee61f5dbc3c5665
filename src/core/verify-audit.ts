import type { Task } from "./api/plans.ts";
import {
  type AuditEntry,
  type AuditEvent,
  agreesWithRecord,
  type ChainProblem,
  type DecisionRecord,
  recomputeDecision,
  verifyChain,
} from "./audit.ts";
import { LEEWAY_SECONDS } from "./check.ts";
import type { Sha256 } from "./digest.ts";
import { type OpenedToken, openPlanToken } from "./plan-token.ts";
import type { PublicKey } from "./signing-key.ts";
import type { SourceMatch } from "./sources/find-source.ts";
import { TASK } from "./sources/source.ts";
import { indexTask, type TaskText } from "./sources/task-text.ts";

/** What the entries of one plan say, and what is wrong with them. */
export interface PlanAudit {
  readonly planId: string;
  readonly entries: number;
  readonly decisions: number;
  /** Of these, how many were made again from the signed token and came out the same. */
  readonly recomputed: number;
  /**
   * How many of those rested on what results of earlier calls said, or on a task that was not given: that a value stood
   * there is taken on trust.
   */
  readonly onTrust: number;
  /** How many cannot be made again: their arguments were redacted, or were never JSON. */
  readonly notRecomputable: number;
  /** The plan was closed. A log that ends before may lack what came after. */
  readonly closed: boolean;
  readonly problems: readonly ChainProblem[];
}

/**
 * Verifies audit entries of any number of plans: each plan's chain, the signature of each token in it, and every decision,
 * made again with `check()`. The counts that a decision rested on must not be lower than what the entries before it took.
 *
 * @param entries in the order in which they were written; those of different plans may be mixed
 * @param options.keys the public keys that may have signed the plans
 * @param options.audience the agent's id
 * @param options.tasks what users asked for, by the id of the plan: needed to see that values were in their words
 *
 * @example
 * import { verifyAudit } from "intentlock/core";
 * import { LocalGate, MemoryAuditSink } from "intentlock/gates";
 *
 * const audit = new MemoryAuditSink();
 * const gate = new LocalGate({ policy, audit });
 * // … sessions run …
 * const plans = await verifyAudit(audit.entries, { keys: [await gate.publicKey()], audience: gate.agent });
 * console.log(plans.flatMap(({ problems }) => problems));
 */
export async function verifyAudit(entries: readonly AuditEntry[], options: VerifyOptions): Promise<PlanAudit[]> {
  // What is no entry has no plan, and is found there.
  const byPlan = Map.groupBy(entries, (entry) => entry?.planId ?? "");
  return await Promise.all([...byPlan].map(([planId, its]) => verifyPlan(planId, its, options)));
}

interface VerifyOptions {
  readonly keys: readonly PublicKey[];
  readonly audience: string;
  readonly tasks?: ReadonlyMap<string, Task> | undefined;
  readonly hash?: Sha256;
}

async function verifyPlan(planId: string, entries: readonly AuditEntry[], options: VerifyOptions): Promise<PlanAudit> {
  const chain = verifyChain(entries, planId, options.hash);
  const counts = { decisions: 0, recomputed: 0, onTrust: 0, notRecomputable: 0 };
  const report = { planId, entries: entries.length, ...counts, closed: false };
  if (chain.problem) return { ...report, problems: [chain.problem] };
  const problems: ChainProblem[] = [];
  const tokens = new Map<string, OpenedToken>();
  const taken = new TakenCalls();
  const task = options.tasks?.get(planId);
  const words = task && indexTask(task, options.hash);
  for (const { seq, event } of entries) {
    const found = (problem: string): unknown => problems.push({ seq, problem });
    if ((event.type === "plan_signed") !== (seq === 0)) found("a log begins with the one signing of its plan");
    if (report.closed && event.type !== "outcome") found("it follows the end of the plan");
    switch (event.type) {
      case "plan_signed":
      case "refresh": {
        const token = await openPlanToken(event.token, options.keys, options);
        if (token.valid && token.claims.planId === planId) tokens.set(token.claims.jti, token);
        else found("its token is not one of this plan, agent and key");
        break;
      }
      case "decision": {
        report.decisions++;
        const answer = verifyDecision(event, tokens.get(event.jti), { taken, task: words });
        if (answer === "recomputed") report.recomputed++;
        if (answer === "recomputed" && event.sources?.some(({ from }) => from !== TASK || !words)) report.onTrust++;
        if (answer === "not recomputable") report.notRecomputable++;
        else if (answer !== "recomputed") found(answer);
        taken.add(seq, event);
        break;
      }
      case "outcome":
        if (!taken.settle(event)) found("no allowed call waits for this outcome");
        break;
      case "closed":
        report.closed = true;
        break;
      case "hold":
      case "approval":
        break;
      default:
        event satisfies never;
        found("there is no such event");
    }
  }
  return { ...report, problems };
}

interface Before {
  readonly taken: TakenCalls;
  readonly task: TaskText | undefined;
}

/** Also of what only says that it is a decision: whoever wrote the log cannot keep the rest of it from being read. */
function verifyDecision(record: DecisionRecord, token: OpenedToken | undefined, before: Before): string {
  try {
    return decideAgain(record, token, before);
  } catch {
    return "it is not an audit entry";
  }
}

function decideAgain(record: DecisionRecord, token: OpenedToken | undefined, { taken, task }: Before): string {
  // A call that was malformed, or refused for an invalid token, is a block whatever it rested on.
  if (record.args === undefined && record.digest === undefined && record.verdict === "block") return "not recomputable";
  if (!token) return "it was decided under a token that is not in the log";
  if (!taken.areIn(record.used)) return "it counts fewer calls than were made before it";
  if (!taken.haveGiven(record.sources ?? [], token)) return "it has a value from a result that is not there";
  if (record.args === undefined) return isPossible(record, token) ? "not recomputable" : "its plan has no such call";
  const again = recomputeDecision(record, token, { task });
  return again && agreesWithRecord(record, again) ? "recomputed" : "decided again, it comes out otherwise";
}

/** What shows of an allow without its arguments: they had a digest, and the step is one of the tool with calls left. */
function isPossible({ verdict, digest, tool, step, rule, used, now }: DecisionRecord, token: OpenedToken): boolean {
  if (verdict !== "allow") return true;
  if (digest === undefined || step === undefined || !token.valid || now >= token.claims.exp + LEEWAY_SECONDS)
    return false;
  const { plan, policy } = token.claims;
  const planned = plan.steps[step];
  const taken = used[step] ?? Number.NaN;
  return (
    planned?.tool === tool &&
    taken < (planned.maxCalls ?? Number.POSITIVE_INFINITY) &&
    policy.rules.some(({ id, decision }) => id === rule && decision !== "block")
  );
}

/** The calls that the entries so far have taken of each step. */
class TakenCalls {
  readonly #steps = new Map<number, number>();
  readonly #decisions = new Map<number, number>();
  /** The steps of those that gave a result, by the number of the decision. */
  readonly #given = new Map<number, number>();

  add(seq: number, { verdict, answer, step }: DecisionRecord): void {
    if (verdict !== "allow" || answer !== undefined || step === undefined) return;
    this.#decisions.set(seq, step);
    this.#steps.set(step, (this.#steps.get(step) ?? 0) + 1);
  }

  /** False unless the outcome is the first of a call that was allowed. */
  settle({ decisionSeq, status }: Extract<AuditEvent, { type: "outcome" }>): boolean {
    const step = this.#decisions.get(decisionSeq);
    if (step === undefined) return false;
    this.#decisions.delete(decisionSeq);
    if (status === "ok") this.#given.set(decisionSeq, step);
    if (status === "aborted") this.#steps.set(step, (this.#steps.get(step) ?? 0) - 1);
    return true;
  }

  /** Whether the calls whose results are named as sources have given some, under the steps that are named. */
  haveGiven(sources: readonly SourceMatch[], token: OpenedToken): boolean {
    return sources.every(({ from, seq }) => {
      if (from === TASK) return true;
      const step = seq === undefined ? undefined : this.#given.get(seq);
      return step !== undefined && token.valid && token.claims.plan.steps[step]?.id === from;
    });
  }

  /** Counts may be higher: those of calls whose entry was not written yet, or not at all. */
  areIn(used: readonly number[]): boolean {
    return [...this.#steps].every(([step, count]) => (used[step] ?? 0) >= count);
  }
}
