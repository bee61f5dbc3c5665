import type { FinishReason, ModelMessage, ToolSet } from "ai";
import { withIntentlock } from "../adapters/vercel-ai/index.ts";
import { loadAi } from "../adapters/vercel-ai/load-ai.ts";
import type { Decision } from "../core/index.ts";
import { describeThrown } from "../session/describe-thrown.ts";
import { emit } from "../session/events.ts";
import type { Session, SessionListener, TaskInput } from "../session/index.ts";
import { toTask } from "../session/task.ts";
import { type GuardOptions, type PlannedRequest, readPlan } from "./guard-options.ts";
import { ProviderError, type RunTrail } from "./provider-error.ts";
import { reportFailures } from "./report-failures.ts";
import type { Usage } from "./watch-model.ts";

/** How a run has ended. */
export const RunStatus = {
  /** The model stopped calling tools. */
  COMPLETED: "completed",
  /** It had its `maxTurns` turns, and called tools in the last one, too. */
  MAX_TURNS: "max_turns",
} as const;
export type RunStatus = (typeof RunStatus)[keyof typeof RunStatus];

export interface GuardResult {
  readonly status: RunStatus;
  /** What the model said last. */
  readonly text: string;
  /** Why the model stopped, as the SDK has it: `stop`, or `length` if `maxTokens` cut its text off. */
  readonly finishReason: FinishReason;
  readonly planId: string;
  /** The task, the model's answers, and the results of its calls. */
  readonly messages: readonly ModelMessage[];
  /** One per call that the model has made, in the order in which they were decided. */
  readonly decisions: readonly Decision[];
  /** For the plan and the run. */
  readonly usage: Usage;
}

export interface GuardParts extends GuardOptions {
  readonly toolSet: ToolSet;
}

const MAX_TURNS = 20;

export async function runAgent(parts: GuardParts, request: PlannedRequest): Promise<GuardResult> {
  const { gate, holdTimeoutMs, system, maxTokens, maxTurns = MAX_TURNS, toolSet } = parts;
  const { user, task, signal } = request;
  const decisions: Decision[] = [];
  const onEvent: SessionListener = (event) => {
    if (event.type === "allow" || event.type === "block") decisions.push(event.decision);
    emit(parts.onEvent, event);
  };
  return await reportFailures(parts, request, async ({ model, usage }, trail) => {
    const prompt = writeMessages(task);
    const plan = readPlan(request);
    const { settings, session } = await withIntentlock(toolSet, {
      ...{ gate, user, task, model, plan, onEvent, holdTimeoutMs, signal },
    });
    const { planId } = session;
    Object.assign(trail, { planId, messages: prompt });
    try {
      const { generateText, isStepCount } = await loadAi();
      const { text, finishReason, steps, responseMessages } = await generateText({
        ...settings,
        messages: prompt,
        stopWhen: isStepCount(maxTurns),
        prepareStep: ({ messages }) => {
          // Older SDKs ask the model all the same.
          signal?.throwIfAborted();
          trail.messages = messages;
          return undefined;
        },
        ...(system !== undefined && { instructions: system }),
        ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
        ...(signal && { abortSignal: signal }),
      });
      const messages = [...prompt, ...responseMessages];
      trail.messages = messages;
      const isDone = steps.at(-1)?.toolCalls.length === 0;
      if (!isDone && steps.length < maxTurns) throw cutOff(model.provider, finishReason, trail);
      const status = isDone ? RunStatus.COMPLETED : RunStatus.MAX_TURNS;
      return { status, text, finishReason, planId, messages, decisions, usage: usage() };
    } finally {
      await closeSession(session, parts.onEvent);
    }
  });
}

/** What the user said, as they said it. What they passed on is a part of its own. */
function writeMessages(input: TaskInput): ModelMessage[] {
  const { instruction, material, earlier = [] } = toTask(input);
  const parts = [instruction, ...(material === undefined ? [] : [material])];
  const content = parts.map((text) => ({ type: "text" as const, text }));
  return [...earlier.map((text) => ({ role: "user" as const, content: text })), { role: "user", content }];
}

/** The SDK runs no call of an answer that broke off: it is not known to be whole. */
function cutOff(provider: string, finishReason: FinishReason, trail: RunTrail): ProviderError {
  const hint = finishReason === "length" ? "; raise maxTokens" : "";
  const detail = `its answer broke off in the middle of tool calls (${finishReason})${hint}`;
  return new ProviderError(provider, { status: null, retryable: false, detail }, trail);
}

/** The run has its result, whatever becomes of the record: trouble with it is told to the listener. */
async function closeSession(session: Session, onEvent: SessionListener | undefined): Promise<void> {
  try {
    await session.close();
  } catch (cause) {
    const message = `The end of the run could not be recorded: ${describeThrown(cause)}`;
    emit(onEvent, { type: "error", planId: session.planId, message, cause });
  }
}
