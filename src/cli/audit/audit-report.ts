import {
  type AuditEntry,
  type ChainHead,
  continueChain,
  digestEntry,
  type PublicKey,
  type Task,
  verifyAudit,
} from "../../core/index.ts";
import { nodeSha256 } from "../../gates/index.ts";

/** One thing that is wrong with what was recorded. */
export interface AuditProblem {
  readonly planId: string;
  /** Of the agent whose plan it is. */
  readonly agentId?: string;
  /** Number of the entry. */
  readonly seq: number;
  readonly problem: string;
}

/** What `audit verify` says. */
export interface AuditReport {
  readonly ok: boolean;
  /** The store, or the outbox's file. */
  readonly source: string;
  readonly plans: number;
  readonly entries: number;
  readonly decisions: number;
  /** Of these, how many were made again and came out the same. */
  readonly recomputed: number;
  /** Of these, how many rested on what tools returned, or on a task that is not known: taken on trust. */
  readonly onTrust: number;
  /** How many cannot be made again: their arguments were redacted, or were never JSON. */
  readonly notRecomputable: number;
  /** Plans without an end: still open, or somebody's log was cut off. */
  readonly notClosed: number;
  /** Plans of an outbox whose first entries were uploaded and removed: the server has them. */
  readonly removed: number;
  readonly problems: readonly AuditProblem[];
}

/** The entries of one plan, as they are kept, with what whoever keeps them says of their end. */
export interface KeptPlan {
  readonly planId: string;
  readonly agentId?: string;
  readonly entries: readonly AuditEntry[];
  /** What the user asked for, if that is known: it is verified to be what the plan was signed for. */
  readonly task?: Task;
  /** How many there have to be. */
  readonly count?: number;
  /** Digest of the last. */
  readonly head?: string | null;
  /** Where the entries begin, if those before were removed. */
  readonly from?: ChainHead;
  /** Why the entries cannot be read. */
  readonly unreadable?: string;
}

/** Verifies plans one by one and adds up what it finds. */
export class AuditVerifier {
  readonly #keys: readonly PublicKey[];
  readonly #sums = {
    plans: 0,
    entries: 0,
    decisions: 0,
    recomputed: 0,
    onTrust: 0,
    notRecomputable: 0,
    notClosed: 0,
    removed: 0,
  };
  readonly #problems: AuditProblem[] = [];

  constructor(keys: readonly PublicKey[]) {
    this.#keys = keys;
  }

  get plans(): number {
    return this.#sums.plans;
  }

  async add(plan: KeptPlan): Promise<void> {
    this.#sums.plans++;
    const { seq, problem } = (await this.#findProblems(plan)) ?? {};
    if (seq !== undefined && problem !== undefined) this.#found(plan, seq, problem);
  }

  /** @returns one that is looked for only where there is no other */
  async #findProblems(plan: KeptPlan): Promise<Pick<AuditProblem, "seq" | "problem"> | undefined> {
    const { entries, from, agentId = "", unreadable, task } = plan;
    if (unreadable !== undefined) return { seq: entries.length, problem: unreadable };
    if (from) return this.#verifyRest(from, plan);
    if (entries.some((entry) => entry?.planId !== plan.planId)) {
      return { seq: 0, problem: "an entry of another plan is among its own" };
    }
    const tasks = new Map(task ? [[plan.planId, task]] : []);
    const [audit] = await verifyAudit(entries, { keys: this.#keys, audience: agentId, tasks, hash: nodeSha256 });
    if (audit) {
      for (const sum of ["entries", "decisions", "recomputed", "onTrust", "notRecomputable"] as const) {
        this.#sums[sum] += audit[sum];
      }
      if (!audit.closed) this.#sums.notClosed++;
      for (const { seq, problem } of audit.problems) this.#found(plan, seq, problem);
      if (audit.problems.length > 0) return undefined;
    }
    return findEndProblem(plan);
  }

  /** What is left of a chain still has to follow on what was removed; its decisions lack their tokens. */
  #verifyRest(from: ChainHead, plan: KeptPlan): Pick<AuditProblem, "seq" | "problem"> | undefined {
    this.#sums.removed++;
    this.#sums.entries += plan.entries.length;
    return continueChain(from, plan.entries, nodeSha256).problem ?? findEndProblem(plan);
  }

  #found({ planId, agentId }: KeptPlan, seq: number, problem: string): void {
    this.#problems.push({ planId, ...(agentId !== undefined && { agentId }), seq, problem });
  }

  report(source: string): AuditReport {
    return { ok: this.#problems.length === 0, source, ...this.#sums, problems: this.#problems };
  }
}

/** The chain alone does not show that its last entries are missing or changed. */
function findEndProblem(plan: KeptPlan): Pick<AuditProblem, "seq" | "problem"> | undefined {
  const problem = describeEnd(plan);
  return problem === undefined ? undefined : { seq: plan.entries.length, problem };
}

function describeEnd({ entries, count, head }: KeptPlan): string | undefined {
  if (count !== undefined && entries.length < count) return `${count - entries.length} of its entries are missing`;
  if (count !== undefined && entries.length > count) return "it has more entries than were counted";
  if (head === undefined) return undefined;
  const last = entries.at(-1);
  const own = last ? digestEntry(last, nodeSha256) : null;
  return own === head ? undefined : "its last entry is not the one that was written";
}
