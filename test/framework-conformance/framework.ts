import type { z } from "zod";
import type { Json, Plan } from "../../src/core/index.ts";
import type { Gate } from "../../src/gates/index.ts";
import type { SessionListener, SessionTool, TaskInput } from "../../src/session/index.ts";

/** A tool as a case describes it: the driver makes the framework's own of it. */
export interface TestTool {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject;
  /** An async iterable gives its result in parts, where the framework knows such tools; elsewhere its last part. */
  readonly run: (args: unknown, signal: AbortSignal | undefined) => unknown;
}

/** A call that the model makes. The arguments are the very object, where the framework does not copy them. */
export interface TestCall {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
}

/** What the model says in one step: calls, or a last word, or one beside a tool that its provider has run. */
export type Turn = { readonly calls: readonly TestCall[] } | { readonly text: string; readonly executed?: string };

/** A message of the thread before the run. A client may have written all of them. */
export type HistoryMessage =
  | { readonly role: "user" | "assistant"; readonly text: string }
  | { readonly role: "call"; readonly call: TestCall; readonly result: string };

/** What happens to the locked tools, or to the agent, before the model calls `evil`, in the framework's own way. */
export type Tampering =
  /** `evil` is added beside the locked tools. */
  | "added"
  /** `evil` takes the place, and the name, of a locked tool. */
  | "swapped"
  /** The locked tools are spread into another set, or copied. */
  | "spread"
  /** A locked tool is put under the name of `evil`. */
  | "renamed";

export interface LockOptions {
  readonly gate: Gate;
  readonly tools: readonly TestTool[];
  readonly task: TaskInput;
  /** Without it, the model is asked. */
  readonly plan?: Plan | undefined;
  /** What the model says when it is asked for a plan: arguments of `declare_plan`, one after the other. */
  readonly declared?: readonly Json[];
  /** What the model says in the run. */
  readonly turns: readonly Turn[];
  readonly history?: readonly HistoryMessage[];
  readonly onEvent?: SessionListener;
  /** The name of a tool that the agent has besides, and that the model's provider runs. */
  readonly providerTool?: string;
  readonly tampering?: { readonly kind: Tampering; readonly evil: TestTool };
}

/** A request that the model got. */
export interface Asked {
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  /** The names of the tools that were offered. */
  readonly tools: readonly string[];
}

export interface AgentResult {
  /** What the model was asked, in the order in which it was. */
  readonly asked: readonly Asked[];
  /** What the model read as the results of its calls, by their ids, in their order: ids may be used twice. */
  readonly results: readonly { readonly id: string; readonly text: string }[];
  /** The last word; undefined if the run failed. */
  readonly text: string | undefined;
  /** What the run failed with. */
  readonly error?: unknown;
}

/** An agent whose tools are locked. Each run tells the same story anew. */
export interface LockedAgent {
  readonly run: (mode: Mode, signal?: AbortSignal) => Promise<AgentResult>;
}

export const MODES = ["generate", "stream"] as const;
export type Mode = (typeof MODES)[number];

/** How the cases drive a framework. */
export interface Framework {
  readonly name: string;
  /** The tools as the adapter describes them for the planner. */
  readonly describe: (tools: readonly TestTool[]) => Promise<readonly SessionTool[]>;
  readonly lock: (options: LockOptions) => Promise<LockedAgent>;
  /** Whether two runs of one locked agent share a session: where the application makes it, and the adapter does not. */
  readonly sharesSession: boolean;
  /**
   * What becomes of arguments that a schema turns into something that it would not take again. `at the server`: that is
   * another program's own matter, and what was checked is what it was sent.
   */
  readonly transforms: "parsed once" | "refused" | "at the server";
  /** What is on record of a call that was aborted while its tool ran. Default: `failed`, since the tool has said so. */
  readonly abortedInTool?: "unknown";
  /** What the framework does by itself with calls that never get to a tool. */
  readonly answersAlone?: {
    /** A call whose id has a result in the thread already is not made. */
    readonly answeredIds?: true;
    /** The model reads that there is no such tool, and nobody is asked. */
    readonly unknownTools?: true;
    /** What the model's provider ran is seen by nobody. */
    readonly providerTools?: true;
    /** The model declares its plan by a call like others: nobody prompts it. */
    readonly plansByCall?: true;
    /** The run ends at a call of a tool that is named like a property of every object. */
    readonly prototypeNames?: true;
  };
}
