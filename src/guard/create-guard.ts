import { planWithModel } from "../adapters/vercel-ai/index.ts";
import { IntentlockError } from "../core/index.ts";
import { type Session, type SessionTool, startSession } from "../session/index.ts";
import { type CallResult, executeCall, type GuardCall } from "./execute-call.ts";
import {
  assertOptions,
  assertRequest,
  type GuardOptions,
  type PlannedRequest,
  PlanSource,
  type RunRequest,
  readPlan,
} from "./guard-options.ts";
import { reportFailures } from "./report-failures.ts";
import { type GuardParts, type GuardResult, runAgent } from "./run-agent.ts";
import { toSessionTools, toToolSet } from "./session-tools.ts";

/** A ready-made agent whose every tool call is checked against a signed plan. */
export interface Guard<S extends PlanSource = PlanSource> {
  /**
   * Has the task planned, the plan signed, and the agent run until its model stops calling tools. A call that is blocked
   * does not end the run: the model reads why.
   *
   * @throws ProviderError if the model fails; PlanError if there is no valid plan; what `gate.sign` throws; the reason of
   * `signal`; IntentlockError `ERR_INVALID_OPTIONS`, `ERR_MISSING_PEER`. All but the reason of `signal` are `error` events, too.
   */
  run(request: RunRequest<S>): Promise<GuardResult>;
  /**
   * The beginning of {@link Guard.run} alone, for those who keep their own loop: plans, signs, and gives the session for
   * {@link Guard.execute}. Close it when the loop has ended.
   *
   * @throws as `run`
   */
  start(request: RunRequest<S>): Promise<Session>;
  /**
   * Checks the calls of one turn of a model, waits for people where a rule holds one, and runs those that are allowed, all
   * at once. Gives exactly one result per call, in their order, whatever the calls are.
   *
   * @param session of `start` of this guard
   * @throws IntentlockError `ERR_INVALID_OPTIONS` for another session, and for what is no list
   */
  execute(session: Session, toolCalls: readonly GuardCall[]): Promise<CallResult[]>;
}

/**
 * Makes an agent of a model, tools and a gate. Its loop is the AI SDK's `generateText`, its checks are the session's.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS`, naming the option
 *
 * @example
 * import { createGuard, defineTool, providerFromEnv, RunStatus, toolset } from "intentlock/guard";
 * import { z } from "zod";
 *
 * const fetchPage = defineTool({
 *   name: "fetch_page",
 *   description: "Reads a web page",
 *   schema: z.object({ url: z.url() }),
 *   impl: async ({ url }) => (await fetch(url)).text(),
 * });
 * const guard = createGuard({ provider: providerFromEnv(), gate, ...toolset([fetchPage]) });
 * const result = await guard.run({ user: signedInUser.email, task: "Summarise https://acme.dev/news" });
 * if (result.status === RunStatus.COMPLETED) console.log(result.text);
 */
export function createGuard<const S extends PlanSource = typeof PlanSource.PLANNER>(
  options: GuardOptions<S>,
): Guard<S> {
  assertOptions(options);
  const { gate, onEvent, holdTimeoutMs, planSource: source = PlanSource.PLANNER } = options;
  const parts: GuardParts = { ...options, planSource: source, toolSet: toToolSet(options) };
  const impls = new Map(Object.entries(options.impls));
  const sessionTools = async (): Promise<SessionTool[]> => await toSessionTools(parts.toolSet, options.tools);
  /** The sessions that `start` gave, and what ends them. */
  const signals = new WeakMap<Session, { readonly signal: AbortSignal | undefined }>();

  return Object.freeze({
    run: async (request: PlannedRequest) => {
      assertRequest(request, source);
      return await runAgent(parts, request);
    },

    start: async (request: PlannedRequest) => {
      assertRequest(request, source);
      const { user, task, signal } = request;
      const session = await reportFailures(parts, request, async ({ model }) =>
        startSession({
          ...{ gate, user, task, onEvent, holdTimeoutMs, signal },
          tools: await sessionTools(),
          plan: readPlan(request),
          planner: planWithModel(model),
        }),
      );
      signals.set(session, { signal });
      return session;
    },

    execute: async (session: Session, toolCalls: readonly GuardCall[]) => {
      const started = signals.get(session);
      if (!started) throw invalid("session: expected one that start() of this guard gave");
      if (!Array.isArray(toolCalls)) throw invalid("toolCalls: expected a list of { callId, tool, args }");
      return await Promise.all(toolCalls.map((call) => executeCall(session, call, { impls, signal: started.signal })));
    },
  });
}

function invalid(message: string): IntentlockError {
  return new IntentlockError("ERR_INVALID_OPTIONS", message);
}
