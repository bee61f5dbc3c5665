import { z } from "zod";
import type { PlanStep } from "../src/core/index.ts";
import { LocalGate, MemoryAuditSink } from "../src/gates/index.ts";
import {
  createGuard,
  defineTool,
  type ExplicitRequest,
  type Guard,
  type GuardOptions,
  type GuardTool,
  type PlannedRequest,
  PlanSource,
  type ToolContext,
  toolset,
} from "../src/guard/index.ts";
import type { SessionEvent } from "../src/session/index.ts";
import { DONE, scriptedModel } from "./ai-sdk.ts";
import { ALICE, aPolicy } from "./builders.ts";

const paySchema = z.object({ to: z.string(), amount: z.number().default(1) });
type Pay = (args: { readonly to: string; readonly amount: number }, context: ToolContext) => unknown;

/** A tool that pays; `runs` are the arguments that reached it. */
export function aPayTool(impl: Pay = ({ to }) => `paid ${to}`): { readonly pay: GuardTool; readonly runs: unknown[] } {
  const runs: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays somebody",
    schema: paySchema,
    impl: (args, context) => {
      runs.push(args);
      return impl(args, context);
    },
  });
  return { pay, runs };
}

/** A tool that takes what it is given, and counts how often it ran. */
export function aReadTool(result: unknown = "the rent is 20"): {
  readonly read: GuardTool;
  readonly count: () => number;
} {
  let count = 0;
  const impl = (): unknown => {
    count++;
    return result;
  };
  const read = defineTool({ name: "read", description: "Reads the mail", schema: z.object({}), impl });
  return { read, count: () => count };
}

export const PAY_LANDLORD: PlanStep = { tool: "pay", args: { to: { eq: "landlord" } }, maxCalls: 2 };
export const READ: PlanStep = { tool: "read", maxCalls: 2 };
export const REQUEST: PlannedRequest = { user: ALICE, task: "Pay the rent" };
/** What a run is asked with its plan. */
export const EXPLICIT: ExplicitRequest = { ...REQUEST, goal: "Pay the rent", steps: [PAY_LANDLORD, READ] };

interface Setup extends Partial<GuardOptions> {
  /** Tools beside those that pay and read. */
  readonly add?: readonly GuardTool[];
}

/** What a guard under test has told and recorded. */
export interface Told {
  /** The arguments that reached the tool that pays. */
  readonly runs: readonly unknown[];
  readonly events: SessionEvent[];
  readonly audit: MemoryAuditSink;
}

/** A guard of a `LocalGate` that allows what is planned, whose runs are given their plan. */
export function aGuard(setup: Setup = {}): Told & { readonly guard: Guard<typeof PlanSource.EXPLICIT> } {
  const { options, ...told } = prepare(setup);
  return { guard: createGuard({ ...options, planSource: PlanSource.EXPLICIT }), ...told };
}

/** {@link aGuard} whose plans its model makes. */
export function aPlanningGuard(setup: Setup = {}): Told & { readonly guard: Guard<typeof PlanSource.PLANNER> } {
  const { options, ...told } = prepare(setup);
  return { guard: createGuard({ ...options, planSource: PlanSource.PLANNER }), ...told };
}

function prepare({ add = [], ...over }: Setup): Told & { readonly options: GuardOptions } {
  const { pay, runs } = aPayTool();
  const events: SessionEvent[] = [];
  const audit = new MemoryAuditSink();
  const options = {
    provider: scriptedModel(DONE),
    gate: new LocalGate({ policy: aPolicy(), audit }),
    onEvent: (event: SessionEvent) => events.push(event),
    ...toolset([pay, aReadTool().read, ...add]),
  };
  return { options: Object.assign(options, over) as GuardOptions, events, audit, runs };
}
