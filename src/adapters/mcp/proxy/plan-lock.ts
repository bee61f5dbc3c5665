import { DECLARE_PLAN, type Json, type Plan, PlanError } from "../../../core/index.ts";
import { describeThrown } from "../../../session/describe-thrown.ts";
import type { Session, SessionTool } from "../../../session/index.ts";
import { planJsonSchema } from "../../../session/planner.ts";
import type { ToolList } from "./server-tools.ts";

/** Has a plan signed and gives its session. `signal` gives up the wait for a person. */
export type StartPlan = (plan: Plan, tools: readonly SessionTool[], signal?: AbortSignal) => Promise<Session>;

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

/** One plan at a time: given to the proxy, or declared by the model behind the client. */
export class PlanLock {
  readonly #start: StartPlan;
  readonly #plan: Plan | undefined;
  #signing: Promise<SignedLock> | undefined;
  #signed: SignedLock | undefined;
  #waits = false;
  #closed = false;

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
    this.#signed = await this.#signing;
  }

  /** Has a declared plan signed. Until it is, the plan that there was holds; then it is over. Never rejects. */
  async declare(declared: unknown, tools: ToolList, signal: AbortSignal): Promise<Declared> {
    if (this.#waits)
      return { isError: true, text: "Another plan waits for a person: nothing else can be declared now." };
    this.#waits = true;
    try {
      const signed = await this.#sign(declared as Plan, tools, signal);
      const before = this.#signed;
      this.#signed = signed;
      await before?.session.close().catch(() => undefined);
      const steps = signed.session.plan.steps.map(({ tool }) => tool);
      return {
        isError: false,
        text: `The plan is signed. From now on it allows calls of: ${steps.join(", ") || "nothing"}.`,
      };
    } catch (error) {
      const why = error instanceof PlanError ? error.message : `The plan was not signed: ${describeThrown(error)}`;
      return { isError: true, text: why };
    } finally {
      this.#waits = false;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#signed?.session.close();
  }

  async #sign(plan: Plan, tools: ToolList, signal?: AbortSignal): Promise<SignedLock> {
    const known = [...tools.values()].map(({ tool }) => tool);
    const session = await this.#start(plan, known, signal);
    if (this.#closed) await session.close();
    return { session, pinned: tools };
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
      "Fix every argument that the task fixes (eq, in, glob, regex, lte, gte), and say how many calls each step may take.",
    inputSchema: planJsonSchema([...tools.keys()]),
  };
}
