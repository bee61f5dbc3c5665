import {
  createStepResults,
  type Evidence,
  indexTask,
  MAX_STEP_RESULTS,
  type Plan,
  type StepResults,
  type TaskText,
} from "../../core/index.ts";
import { namesOfSources, TASK } from "../../core/sources/source.ts";
import type { ServerContext } from "../handler.ts";
import { nodeSha256 } from "../node-sha256.ts";
import { RecentlyUsed } from "../recently-used.ts";
import type { KnownPlan } from "./plan-changes.ts";

/** What is kept at most, in characters: of results, of those of one plan, and of users' words. */
export const MAX_RESULTS = 16_777_216;
export const MAX_PLAN_RESULTS = 4_194_304;
const MAX_TASKS = 4_194_304;
const MAX_PLANS = 1000;

/** A call that ran and is on record, with what it gave. */
export interface GivenResult {
  readonly step: number;
  readonly decisionSeq: number;
  readonly result: unknown;
  /** Seconds since the epoch: when the plan is over at the latest. */
  readonly until: number;
}

interface KeptResults {
  readonly results: StepResults;
  /** Characters of JSON that were added, by the index of the step. */
  readonly characters: Map<number, number>;
  readonly until: number;
}

/**
 * What the values of calls may have been copied from: users' words, which the store has, and what earlier calls have given
 * to this process, which nothing else has. What is not here, or not any more, is a source that does not match.
 */
export class PlanSources {
  readonly #context: Pick<ServerContext, "store" | "clock">;
  readonly #tasks = new RecentlyUsed<TaskText>({ maxEntries: MAX_PLANS, maxWeight: MAX_TASKS });
  readonly #results = new RecentlyUsed<KeptResults>({ maxEntries: MAX_PLANS, maxWeight: MAX_RESULTS });

  constructor(context: Pick<ServerContext, "store" | "clock">) {
    this.#context = context;
  }

  /** What a plan's calls are decided with, as far as a `from` of the plan asks for it. */
  async evidenceFor({ id, plan }: Pick<KnownPlan, "id" | "plan">): Promise<Pick<Evidence, "task" | "results">> {
    const { names } = sourcesOf(plan);
    if (names.size === 0) return {};
    const task = await this.taskOf({ id, plan });
    const results = this.#results.get(id)?.results;
    return { ...(task && { task }), ...(results && { results }) };
  }

  /** What the user asked for, if a `from` of the plan names it. */
  async taskOf({ id, plan }: Pick<KnownPlan, "id" | "plan">): Promise<TaskText | undefined> {
    if (!sourcesOf(plan).names.has(TASK)) return undefined;
    const known = this.#tasks.get(id);
    if (known) return known;
    const [text] = await this.#context.store.plans.texts([id]);
    if (!text) return undefined;
    const task = indexTask(text.task, nodeSha256);
    this.#tasks.set(id, task, text.task.instruction.length);
    return task;
  }

  /** Keeps what a call has given, if a `from` of the plan names its step. Only once the outcome is on record. */
  add({ id, plan }: Pick<KnownPlan, "id" | "plan">, { step, decisionSeq, result, until }: GivenResult): void {
    if (!sourcesOf(plan).steps.has(step)) return;
    const kept = this.#results.get(id) ?? { results: createStepResults(plan), characters: new Map(), until };
    const length = measure(result);
    const ofStep = (kept.characters.get(step) ?? 0) + length;
    const ofPlan = [...kept.characters.values()].reduce((sum, count) => sum + count, length);
    if (length === 0 || ofStep > MAX_STEP_RESULTS || ofPlan > MAX_PLAN_RESULTS) return;
    kept.results.add(step, decisionSeq, result);
    kept.characters.set(step, ofStep);
    this.#results.set(id, kept, ofPlan);
  }

  /** A plan is over: nothing of it is needed any more. */
  forget(planId: string): void {
    this.#tasks.delete(planId);
    this.#results.delete(planId);
  }

  /** Of plans that nobody closed. Of their tasks only what was not used for longest goes. */
  dropExpired(): void {
    const now = this.#context.clock() / 1000;
    this.#results.deleteWhere(({ until }) => now >= until);
  }

  /** In characters, for whoever watches it. */
  get kept(): { readonly results: number; readonly tasks: number } {
    return { results: this.#results.weight, tasks: this.#tasks.weight };
  }
}

/** Zero for what has no JSON. */
function measure(result: unknown): number {
  try {
    return JSON.stringify(result)?.length ?? 0;
  } catch {
    return 0;
  }
}

interface NamedSources {
  readonly names: ReadonlySet<string>;
  /** The indexes of the steps among them. */
  readonly steps: ReadonlySet<number>;
}

/** Plans are remembered between calls, and their sources with them. */
const named = new WeakMap<Plan, NamedSources>();

/** What the `from`s of a plan name. */
export function sourcesOf(plan: Plan): NamedSources {
  const known = named.get(plan);
  if (known) return known;
  const names = namesOfSources(plan);
  const steps = plan.steps.flatMap(({ id }, index) => (id !== undefined && names.has(id) ? [index] : []));
  const made = { names, steps: new Set(steps) };
  named.set(plan, made);
  return made;
}
