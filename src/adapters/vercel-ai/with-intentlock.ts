import type { LanguageModel, ToolCallRepairFunction, ToolSet } from "ai";
import { IntentlockError, type Plan } from "../../core/index.ts";
import type { Gate, UserInput } from "../../gates/gate.ts";
import {
  type OnHold,
  resumeSession,
  type Session,
  type SessionListener,
  type SessionTool,
  startSession,
  type TaskInput,
} from "../../session/index.ts";
import { assertCovered, type CoverageGap, findGaps, modelIdGap } from "./coverage.ts";
import { describeTools } from "./describe-tool.ts";
import { lockModel } from "./lock-model.ts";
import { lockTools } from "./lock-tools.ts";
import { planWithModel } from "./plan-with-model.ts";
import { recordRefused } from "./record-refused.ts";
import { guardApprovals, type ToolApproval } from "./tool-approval.ts";

interface LockingOptions<T extends ToolSet, M extends LanguageModel | undefined> {
  readonly gate: Gate;
  /** From the application's own authentication; never from anything that a client of the application sent. */
  readonly user: UserInput;
  /** The agent's model. It is asked for the plan, unless there is one, and kept from tools that are not locked. */
  readonly model?: M;
  /** Tools that may stay without a check of their calls, by name: those that the gate cannot see. */
  readonly allowUngated?: readonly string[] | undefined;
  /** The application's own setting, asked before ours. */
  readonly toolApproval?: ToolApproval<NoInfer<T>> | undefined;
  /** The application's own repair of calls that the SDK refuses: it is asked first. */
  readonly repairToolCall?: ToolCallRepairFunction<NoInfer<T>> | undefined;
  readonly onEvent?: SessionListener | undefined;
  /**
   * What becomes of a call that a person has to approve. `wait`, the default: it waits for them in its `execute`.
   * `suspend`: it ends the step with the SDK's `tool-approval-request`, and is checked again once the client has sent its
   * response. Needs a gate with a server.
   */
  readonly onHold?: OnHold | undefined;
  /** The longest wait for a person, in milliseconds. Default: 300,000. */
  readonly holdTimeoutMs?: number | undefined;
  /** Ends the session. The signal of a call is honoured besides. */
  readonly signal?: AbortSignal | undefined;
}

/** @typeParam M the type of the model, undefined if none is given */
export interface WithIntentlockOptions<
  T extends ToolSet,
  M extends LanguageModel | undefined = LanguageModel | undefined,
> extends LockingOptions<T, M> {
  /** The user's words, or `{ instruction, material }` if they passed on text that is not theirs. */
  readonly task: TaskInput;
  /** Another model for the plan alone. */
  readonly plannerModel?: LanguageModel | undefined;
  /** The plan, if the application knows it. */
  readonly plan?: Plan | undefined;
  readonly resume?: undefined;
}

/** @typeParam M the type of the model, undefined if none is given */
export interface ResumeIntentlockOptions<
  T extends ToolSet,
  M extends LanguageModel | undefined = LanguageModel | undefined,
> extends LockingOptions<T, M> {
  /** The id of the plan that goes on, as `locked.session.planId` had it. It has to be a plan of `user`. */
  readonly resume: string;
}

/** What to spread into `generateText`, `streamText` or `new ToolLoopAgent`. */
export interface LockedSettings<T extends ToolSet> {
  readonly tools: T;
  readonly toolApproval: ToolApproval<T>;
  readonly repairToolCall: ToolCallRepairFunction<T>;
}

export interface Locked<T extends ToolSet, M extends LanguageModel | undefined> {
  /** With a `model` if one was given. */
  readonly settings: LockedSettings<T> & (M extends LanguageModel ? { readonly model: LanguageModel } : unknown);
  readonly tools: T;
  readonly session: Session;
  /** What the gate cannot see: the tools of `allowUngated`, and a model given as an id. */
  readonly coverage: readonly CoverageGap[];
}

/**
 * Plans a task, signs the plan, and locks tools and model to it; or, with `resume`, locks them to a plan that was signed
 * before.
 *
 * @throws IntentlockError `ERR_UNGATED_TOOLS` for tools that the gate cannot see, `ERR_INVALID_OPTIONS`, `ERR_MISSING_PEER`;
 * PlanError if there is no valid plan; what the model's provider throws while planning; with `resume`, what
 * `resumeSession` throws, such as `ERR_UNKNOWN_PLAN` for a plan of another user
 *
 * @example
 * import { generateText, isStepCount } from "ai";
 * import { LocalGate } from "intentlock/gates";
 * import { withIntentlock } from "intentlock/vercel-ai";
 *
 * const gate = new LocalGate({ policy });
 * const locked = await withIntentlock(tools, { gate, user: "alice@acme.dev", task, model });
 * const { text } = await generateText({ ...locked.settings, prompt: task, stopWhen: isStepCount(20) });
 */
export async function withIntentlock<const T extends ToolSet, M extends LanguageModel | undefined = undefined>(
  tools: T,
  options: WithIntentlockOptions<T, M> | ResumeIntentlockOptions<T, M>,
): Promise<Locked<T, M>> {
  const { model, allowUngated = [] } = options;
  if (typeof tools !== "object" || tools === null || Array.isArray(tools)) {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "tools: expected an object of tools by their names");
  }
  const gaps = findGaps(tools);
  assertCovered(gaps, allowUngated);
  const ungated = gaps.map(({ name }) => name);
  const lockable = Object.fromEntries(Object.entries(tools).filter(([name]) => !ungated.includes(name)));
  const session = await openSession(options, await describeTools(lockable));
  const locked = lockTools(tools, { session, allowUngated });
  const toolApproval = guardApprovals(session, options.toolApproval as ToolApproval<ToolSet> | undefined, gaps);
  const lockedModel = model && (await lockModel(model, tools, allowUngated));
  const repairToolCall = recordRefused(session, options.repairToolCall as ToolCallRepairFunction<ToolSet> | undefined);
  const settings = { ...(lockedModel && { model: lockedModel }), tools: locked, toolApproval, repairToolCall };
  const coverage = Object.freeze(typeof model === "string" ? [...gaps, modelIdGap(model)] : gaps);
  return Object.freeze({ settings: Object.freeze(settings), tools: locked, session, coverage }) as unknown as Locked<
    T,
    M
  >;
}

async function openSession<T extends ToolSet, M extends LanguageModel | undefined>(
  options: WithIntentlockOptions<T, M> | ResumeIntentlockOptions<T, M>,
  tools: readonly SessionTool[],
): Promise<Session> {
  const { gate, user, onEvent, onHold, holdTimeoutMs, signal } = options;
  const running = { gate, user, tools, onEvent, onHold, holdTimeoutMs, signal };
  if (options.resume !== undefined) return await resumeSession({ ...running, planId: options.resume });
  const { task, plan, plannerModel, model } = options;
  const planner = plannerModel ?? model;
  return await startSession({ ...running, task, plan, planner: planner && planWithModel(planner) });
}
