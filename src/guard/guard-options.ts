import type { LanguageModel } from "ai";
import { z } from "zod";
import { IntentlockError, type Plan, type PlanStep } from "../core/index.ts";
import { closedObject, findSchemaIssues, toIssue } from "../core/schema.ts";
import type { Gate, UserInput } from "../gates/gate.ts";
import type { SessionListener, TaskInput } from "../session/index.ts";
import { fingerprintTools } from "../session/session-tool.ts";
import type { Toolset } from "./define-tool.ts";

/** Who makes the plans of a guard. */
export const PlanSource = {
  /** The model, from the task and the tools. */
  PLANNER: "planner",
  /** The application: each run is given `goal` and `steps`. */
  EXPLICIT: "explicit",
} as const;
export type PlanSource = (typeof PlanSource)[keyof typeof PlanSource];

/** @typeParam S who makes the plans */
export interface GuardOptions<S extends PlanSource = PlanSource> extends Toolset {
  /** Any language model of the AI SDK, such as `providerFromEnv()`. */
  readonly provider: LanguageModel;
  /** Signs and decides. The guard does not close it. */
  readonly gate: Gate;
  /** Default: `PlanSource.PLANNER`. */
  readonly planSource?: S | undefined;
  /** The longest wait for a person, in milliseconds. Default: 300,000. */
  readonly holdTimeoutMs?: number | undefined;
  /** The most turns of the model after the plan is signed. Default: 20. */
  readonly maxTurns?: number | undefined;
  /** What the model is told first, in each turn. Plans are made without it. */
  readonly system?: string | undefined;
  /** The most tokens that the model may write in one turn. Default: the provider's. */
  readonly maxTokens?: number | undefined;
  /** What it throws is swallowed. */
  readonly onEvent?: SessionListener | undefined;
}

/** What a run is for. */
export interface PlannedRequest {
  /** From the application's own authentication; never from anything that a client of the application sent. */
  readonly user: UserInput;
  /** The user's words, or `{ instruction, material, earlier }`. */
  readonly task: TaskInput;
  /** Ends the run. */
  readonly signal?: AbortSignal | undefined;
}

/** What a run is for, with its plan. */
export interface ExplicitRequest extends PlannedRequest {
  readonly goal: string;
  readonly steps: readonly PlanStep[];
}

export type RunRequest<S extends PlanSource> = S extends typeof PlanSource.EXPLICIT ? ExplicitRequest : PlannedRequest;

const anObject = (message: string, fits: (value: object) => boolean): z.ZodType =>
  z.custom((value) => typeof value === "object" && value !== null && fits(value), message);
const aFunction = z.custom((value) => typeof value === "function", "expected a function");

/** By what the SDK looks at: what wraps a model takes one of any version. */
function isModel(value: unknown): boolean {
  const { doGenerate, specificationVersion } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof doGenerate === "function" && ["v2", "v3", "v4"].includes(specificationVersion as string);
}

const optionsSchema = closedObject({
  provider: z.custom(
    (value) => (typeof value === "string" && value !== "") || isModel(value),
    "expected a language model of the AI SDK (5 or later), like providerFromEnv()",
  ),
  gate: anObject("expected a gate, like new LocalGate({ policy })", (gate) => "check" in gate),
  tools: z.custom((value) => Array.isArray(value), "missing; expected ...toolset([...])"),
  impls: anObject("missing; expected ...toolset([...])", () => true),
  planSource: z.enum(Object.values(PlanSource)).optional(),
  holdTimeoutMs: z.number().min(0).optional(),
  maxTurns: z.int().min(1).optional(),
  system: z.string().optional(),
  maxTokens: z.int().min(1).optional(),
  onEvent: aFunction.optional(),
});

/** @throws IntentlockError `ERR_INVALID_OPTIONS`, naming the first problem */
export function assertOptions(options: GuardOptions): void {
  assertFits(optionsSchema, options, "createGuard");
  fingerprintTools(options.tools.map(({ name }) => ({ name, inputSchema: {} })));
  for (const { name } of options.tools) {
    if (Object.hasOwn(options.impls, name) && typeof options.impls[name] === "function") continue;
    throw new IntentlockError("ERR_INVALID_OPTIONS", `impls: the tool ${name} has none; spread ...toolset([...])`);
  }
}

const request = {
  user: z.custom(
    (user) => typeof (user as Exclude<UserInput, string> | undefined)?.email === "string" || typeof user === "string",
    "expected the user's e-mail, or { email, roles, groups }",
  ),
  // The session looks at it.
  task: z.unknown().optional(),
  signal: anObject("expected an AbortSignal", (signal) => "aborted" in signal).optional(),
};
const requestSchemas = {
  planner: closedObject(request),
  explicit: closedObject({ ...request, goal: z.string(), steps: z.array(z.unknown()) }),
};

/** @throws IntentlockError `ERR_INVALID_OPTIONS`, naming the first problem */
export function assertRequest(value: PlannedRequest, source: PlanSource): void {
  const given = typeof value === "object" && value !== null ? value : {};
  if (source === PlanSource.PLANNER && ("goal" in given || "steps" in given)) {
    const message =
      "goal, steps: this guard's plans are made by the model; give createGuard planSource: PlanSource.EXPLICIT";
    throw new IntentlockError("ERR_INVALID_OPTIONS", message);
  }
  assertFits(requestSchemas[source], value, "The run");
}

/** The plan of a request that has one. What is wrong with it, the session says. */
export function readPlan(request: PlannedRequest): Plan | undefined {
  if (!("goal" in request)) return undefined;
  const { goal, steps } = request as ExplicitRequest;
  return { goal, steps: [...steps] };
}

function assertFits(schema: z.ZodType, value: unknown, what: string): void {
  const [issue] = findSchemaIssues(schema, value).map(toIssue);
  if (!issue) return;
  throw new IntentlockError("ERR_INVALID_OPTIONS", `${what}: ${issue.path ? `${issue.path}: ` : ""}${issue.message}`);
}
