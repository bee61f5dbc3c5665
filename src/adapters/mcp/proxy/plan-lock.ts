import { DECLARE_PLAN, IntentlockError, type Json, type Plan, PlanError } from "../../../core/index.ts";
import { freezeJson, jsonEqual } from "../../../core/json.ts";
import { describeThrown } from "../../../session/describe-thrown.ts";
import type { Session, SessionTool } from "../../../session/index.ts";
import { planJsonSchema } from "../../../session/plan-json-schema.ts";
import type { ToolList } from "./server-tools.ts";

/** Has a plan signed and gives its session. `signal` gives up the wait for a person. */
export type StartPlan = (plan: Plan, tools: readonly SessionTool[], signal: AbortSignal) => Promise<Session>;

/** The plan that a proxy's calls are checked against, and the tools as they were when it was signed. */
export interface SignedLock {
  readonly session: Session;
  readonly pinned: ToolList;
}

/** What is said to a model that has declared a plan. */
export interface Declared {
  readonly isError: boolean;
  readonly text: string;
}

/** A plan that somebody was asked to sign. */
interface Asked {
  readonly plan: Json | undefined;
  readonly answer: Promise<Declared>;
  isDone: boolean;
  /** The model has read the answer. */
  isHeard: boolean;
}

/** So many plans in a row may be rejected, or not be decided about: people are not to be worn down. */
const MAX_REJECTED = 5;

/** One plan at a time: given to the proxy, or declared by the model behind the client. */
export class PlanLock {
  readonly #start: StartPlan;
  readonly #plan: Plan | undefined;
  readonly #over = new AbortController();
  #signing: Promise<SignedLock> | undefined;
  #signed: SignedLock | undefined;
  #asked: Asked | undefined;
  #rejected = 0;

  /** @param plan without it, the model has to declare one */
  constructor(start: StartPlan, plan: Plan | undefined) {
    this.#start = start;
    this.#plan = plan;
  }

  /** Whether the model declares the plan. */
  get isDeclared(): boolean {
    return this.#plan === undefined;
  }

  /** Undefined until there is a plan. */
  get signed(): SignedLock | undefined {
    return this.#signed;
  }

  /** Has the given plan signed for these tools, once. @throws what the signing throws */
  async begin(tools: ToolList): Promise<void> {
    if (!this.#plan) return;
    this.#signing ??= this.#sign(this.#plan, tools);
    try {
      this.#signed = await this.#signing;
    } catch (error) {
      // Whoever connects next tries again.
      this.#signing = undefined;
      throw error;
    }
  }

  /**
   * Has a declared plan signed. Until it is, the plan that there was holds; then it is over. People take longer than many
   * clients wait: whoever declares the same plan again gets the answer to the first time, if nobody has heard it. Never
   * rejects.
   */
  async declare(declared: unknown, tools: ToolList, signal: AbortSignal): Promise<Declared> {
    const plan = readPlan(declared);
    const before = this.#asked;
    const isSame = before && plan !== undefined && before.plan !== undefined && jsonEqual(plan, before.plan);
    if (before && !before.isDone && !isSame) {
      return refused("Another plan waits for a person: nothing else can be declared now.");
    }
    const asked = isSame && !before.isHeard ? before : this.#ask(plan, tools);
    const answer = await untilAborted(asked.answer, signal);
    if (!answer) return refused("Nobody waits for the answer any more.");
    asked.isHeard = true;
    return answer;
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#signed?.session.close();
  }

  #ask(plan: Json | undefined, tools: ToolList): Asked {
    const answer = this.#replace(plan, tools).finally(() => {
      asked.isDone = true;
    });
    const asked: Asked = { plan, answer, isDone: false, isHeard: false };
    this.#asked = asked;
    return asked;
  }

  async #replace(plan: Json | undefined, tools: ToolList): Promise<Declared> {
    if (this.#rejected >= MAX_REJECTED) {
      return refused("Too many plans in a row were not approved. Whoever runs the proxy has to start it again.");
    }
    try {
      const signed = await this.#sign(plan as unknown as Plan, tools);
      const before = this.#signed;
      this.#signed = signed;
      this.#rejected = 0;
      await before?.session.close().catch(() => undefined);
      const steps = signed.session.plan.steps.map(({ tool }) => tool);
      const text = `The plan is signed. From now on it allows calls of: ${steps.join(", ") || "nothing"}.`;
      return { isError: false, text };
    } catch (error) {
      if (error instanceof PlanError) return refused(error.message);
      if (error instanceof IntentlockError && error.code === "ERR_PLAN_REJECTED") this.#rejected++;
      return refused(`The plan was not signed: ${describeThrown(error)}`);
    }
  }

  async #sign(plan: Plan, tools: ToolList): Promise<SignedLock> {
    const known = [...tools.values()].map(({ tool }) => tool);
    const session = await this.#start(plan, known, this.#over.signal);
    if (this.#over.signal.aborted) await session.close();
    return { session, pinned: tools };
  }
}

function refused(text: string): Declared {
  return { isError: true, text };
}

/** Undefined for what is no JSON, and no plan. */
function readPlan(declared: unknown): Json | undefined {
  try {
    return freezeJson(declared);
  } catch {
    return undefined;
  }
}

/** Undefined once the signal says that nobody waits. */
async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const abort = (): void => resolve(undefined);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** What a plan says that it is for: the task, where nobody has said it. */
export function goalOf(plan: Plan): string {
  const { goal } = (plan ?? {}) as { readonly goal?: unknown };
  return typeof goal === "string" && goal.trim() !== "" ? goal : "(the plan does not say)";
}

/** The tool with which a model declares its plan, as a client lists it. */
export function declarePlanTool(tools: ToolList): { readonly [key: string]: Json } {
  return {
    name: DECLARE_PLAN,
    title: "Declare a plan",
    description:
      "Call this first. Declare every tool call that the user's task may need, before you read anything that others wrote: " +
      "a person looks at the plan, and afterwards the calls that it declares can be made, and no others. " +
      "Fix every argument that the task fixes (eq, in), say of the others where they are copied from (from) or bound them " +
      "(glob, regex, lte, gte, maxItems), and say how many calls each step may take.",
    inputSchema: planJsonSchema([...tools.keys()]),
  };
}
