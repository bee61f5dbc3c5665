import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fingerprintTool, type Json, type Plan, type PlanStep } from "intentlock/core";
import { z } from "zod";

/** AgentDojo as the folder's README describes it, as far as it is replayed. */
export interface Corpus {
  readonly commit: string;
  readonly version: string;
  readonly suites: readonly Suite[];
  readonly recordings: readonly Recording[];
}

export interface Suite {
  readonly name: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly userTasks: readonly UserTask[];
  readonly injectionTasks: readonly InjectionTask[];
}

export interface Tool {
  readonly fingerprint: string;
  /** Whether the tool's schema accepts these arguments. */
  readonly accepts: (args: unknown) => boolean;
}

export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
}

/** A call of a run, as it was recorded. */
export interface RunCall extends ToolCall {
  /** What the tool gave, if the corpus was loaded with outputs; undefined too if the call never ran, or failed. */
  readonly output: string | undefined;
}

export interface UserTask {
  readonly id: string;
  readonly prompt: string;
  readonly plan: Plan;
  readonly groundTruth: readonly ToolCall[];
}

export interface InjectionTask {
  readonly id: string;
  /** The ground truth, or the folder's working solution where upstream has none; empty if no call is needed. */
  readonly calls: readonly ToolCall[];
}

/** All runs of one model, with or without an attack. */
export interface Recording {
  readonly model: string;
  readonly attacked: boolean;
  readonly runs: readonly Run[];
}

export interface Run {
  readonly suite: string;
  readonly userTask: string;
  readonly injectionTask: string | null;
  readonly calls: readonly RunCall[];
  /** The user's task was done. */
  readonly utility: boolean;
  /** In an attacked run: the attack succeeded. */
  readonly security: boolean;
  readonly utilityNeeds: Needs;
  readonly attackNeeds: Needs;
  /** Something broke, and the run says nothing. */
  readonly failed: boolean;
}

/** Groups of call indices: without every call of any one group it fails. Undefined where the folder does not say. */
export type Needs = readonly (readonly number[])[] | undefined;

export interface LoadOptions {
  /** The file of the plans. */
  readonly plans?: string;
  /** Also what the recorded calls gave: some megabytes. */
  readonly outputs?: boolean;
}

/** The corpus in a folder, or undefined if it is not there. */
export function loadCorpus(folder: string, options: LoadOptions = {}): Corpus | undefined {
  if (!existsSync(join(folder, "agentdojo.json"))) return undefined;
  const file = readJson<CorpusFile>(folder, "agentdojo.json");
  const plans = readJson<Record<string, PlanEntry[]>>(folder, options.plans ?? "plans.json");
  return {
    commit: file.meta.commit,
    version: file.meta.benchmark_version,
    suites: Object.entries(file.suites).map(([name, suite]) => toSuite(name, suite, plans[name] ?? [])),
    recordings: readdirSync(folder)
      .sort()
      .flatMap((name) => toRecording(folder, name, options.outputs ?? false)),
  };
}

interface CorpusFile {
  readonly meta: { readonly commit: string; readonly benchmark_version: string };
  readonly suites: Readonly<Record<string, SuiteFile>>;
}

interface SuiteFile {
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: Json }[];
  readonly user_tasks: readonly {
    readonly id: string;
    readonly prompt: string;
    readonly ground_truth: readonly ToolCall[];
  }[];
  readonly injection_tasks: readonly {
    readonly id: string;
    readonly ground_truth: readonly ToolCall[];
    readonly working_solution?: { readonly calls: readonly ToolCall[] };
  }[];
}

interface PlanEntry {
  readonly id: string;
  readonly goal: string;
  readonly steps: readonly (PlanStep & { readonly dataFrom?: unknown })[];
}

interface RunEntry {
  readonly suite: string;
  readonly user_task: string;
  readonly injection_task: string | null;
  readonly calls: readonly (ToolCall & { readonly error?: string })[];
  readonly utility: boolean;
  readonly security: boolean;
  readonly utility_needs?: readonly number[][];
  readonly attack_needs?: readonly number[][];
  readonly run_error?: unknown;
}

interface OutputsFile {
  readonly strings: readonly string[];
  /** In the order of the runs: the indices of the texts, null for a call that never ran. */
  readonly runs: readonly { readonly outputs: readonly (number | null)[] }[];
}

function toSuite(name: string, suite: SuiteFile, entries: readonly PlanEntry[]): Suite {
  const plans = new Map(entries.map((entry) => [entry.id, toPlan(entry)]));
  return {
    name,
    tools: new Map(suite.tools.map((tool) => [tool.name, toTool(tool)])),
    userTasks: suite.user_tasks.map(({ id, prompt, ground_truth }) => {
      const plan = plans.get(id);
      if (!plan) throw new Error(`there is no plan for ${name} ${id}`);
      return { id, prompt, plan, groundTruth: ground_truth };
    }),
    injectionTasks: suite.injection_tasks.map(({ id, ground_truth, working_solution }) => ({
      id,
      calls: ground_truth.length > 0 ? ground_truth : (working_solution?.calls ?? []),
    })),
  };
}

function toTool({ name, description, parameters }: SuiteFile["tools"][number]): Tool {
  const schema = z.fromJSONSchema(parameters as Parameters<typeof z.fromJSONSchema>[0]);
  return {
    fingerprint: fingerprintTool({ name, description, inputSchema: parameters }),
    accepts: (args) => schema.safeParse(args).success,
  };
}

/** The entry without its own `id` and the `dataFrom` of steps, which are extra information and not part of the plan format. */
function toPlan({ goal, steps }: PlanEntry): Plan {
  return { goal, steps: steps.map(({ dataFrom: _dataFrom, ...step }) => step) };
}

function toRecording(folder: string, name: string, withOutputs: boolean): Recording[] {
  const [, kind, model] = /^(attacked|benign)\.(.+)(?<!\.outputs)\.json$/.exec(name) ?? [];
  if (model === undefined) return [];
  const { runs } = readJson<{ runs: RunEntry[] }>(folder, name);
  const outputs = withOutputs ? readOutputs(join(folder, `${kind}.${model}.outputs.json.gz`)) : undefined;
  return [{ model, attacked: kind === "attacked", runs: runs.map((run, index) => toRun(run, outputs?.[index])) }];
}

/** What the calls of each run gave. */
function readOutputs(path: string): (string | undefined)[][] {
  const { strings, runs } = JSON.parse(gunzipSync(readFileSync(path)).toString("utf8")) as OutputsFile;
  return runs.map(({ outputs }) => outputs.map((index) => (index === null ? undefined : strings[index])));
}

function toRun(run: RunEntry, outputs: readonly (string | undefined)[] = []): Run {
  return {
    suite: run.suite,
    userTask: run.user_task,
    injectionTask: run.injection_task,
    calls: run.calls.map(({ tool, args, error }, index) => ({
      tool,
      args,
      output: error === undefined ? outputs[index] : undefined,
    })),
    utility: run.utility,
    security: run.security,
    utilityNeeds: run.utility_needs,
    attackNeeds: run.attack_needs,
    failed: Boolean(run.run_error),
  };
}

function readJson<T>(folder: string, name: string): T {
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as T;
}
