import { beforeEach, describe, expect, test } from "vitest";
import { TestClock } from "../../../test/clock.ts";
import type { Plan, PlanStep } from "../../core/index.ts";
import { createStepResults } from "../../core/index.ts";
import type { Store } from "../store/index.ts";
import { MAX_PLAN_RESULTS, MAX_RESULTS, PlanSources, sourcesOf } from "./plan-sources.ts";

const READS: readonly PlanStep[] = Array.from({ length: 6 }, (_, index) => ({ id: `read${index}`, tool: "read_file" }));

/** A plan of six steps, of which `from` names some. */
function aPlan(id: string, from: readonly string[]): { readonly id: string; readonly plan: Plan } {
  const args = from.length > 0 ? { args: { to: { from } } } : {};
  return { id, plan: { goal: "Pay", steps: [...READS, { tool: "send_money", ...args }] } };
}

const ALL = READS.map(({ id }) => id as string);
const MIB = 1_048_576;
const LONG = "x".repeat(MIB - 2);

const clock = new TestClock();
let asked: string[];
let sources: PlanSources;
beforeEach(() => {
  asked = [];
  const texts = async ([id]: readonly string[]) => {
    asked.push(String(id));
    return id === "none" ? [] : [{ id, task: { instruction: "Pay the rent" } }];
  };
  sources = new PlanSources({ store: { plans: { texts } } as unknown as Store, clock: clock.now });
});

function add(plan: ReturnType<typeof aPlan>, step: number, result: unknown, over: { until?: number } = {}): void {
  sources.add(plan, { step, decisionSeq: step + 1, result, until: Number.POSITIVE_INFINITY, ...over });
}

test.each<[string, readonly string[], readonly number[]]>([
  ["no source", [], []],
  ["the task", ["task"], []],
  ["two steps and the task", ["task", "read0", "read3"], [0, 3]],
])("a plan that names %s", (_name, from, steps) => {
  const { plan } = aPlan("p", from);
  expect([...sourcesOf(plan).steps]).toEqual(steps);
  expect(sourcesOf(plan)).toBe(sourcesOf(plan));
});

describe("of results", () => {
  test("only those of steps that the plan names are kept", async () => {
    const plan = aPlan("p", ["read1"]);
    add(plan, 0, "secret");
    expect([sources.kept.results, await sources.evidenceFor(plan)]).toEqual([0, {}]);
    add(plan, 1, "secret");
    expect(sources.kept.results).toBe(8);
    expect((await sources.evidenceFor(plan)).results).toBeInstanceOf(createStepResults(plan.plan).constructor);
    expect((await sources.evidenceFor(aPlan("another", ["read1"]))).results).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a big integer", 1n],
    [
      "a getter that throws",
      {
        get secret() {
          throw new Error("no");
        },
      },
    ],
  ])("%s is nothing", (_name, result) => {
    add(aPlan("p", ALL), 0, result);
    expect(sources.kept.results).toBe(0);
  });

  test("a step has at most 1 MiB, and a plan four", () => {
    const plan = aPlan("p", ALL);
    add(plan, 0, LONG);
    add(plan, 0, "more");
    expect(sources.kept.results).toBe(MIB);
    for (let step = 1; step < 6; step++) add(plan, step, LONG);
    expect(sources.kept.results).toBe(MAX_PLAN_RESULTS);
  });

  test("of all plans together, those that were not used for longest are forgotten", async () => {
    const plans = Array.from({ length: MAX_RESULTS / MIB + 1 }, (_, index) => aPlan(`p${index}`, ["read0"]));
    const [first, second] = plans as [ReturnType<typeof aPlan>, ReturnType<typeof aPlan>];
    for (const plan of plans.slice(0, -1)) add(plan, 0, LONG);
    await sources.evidenceFor(first);
    add(plans.at(-1)!, 0, LONG);
    expect(sources.kept.results).toBe(MAX_RESULTS);
    expect((await sources.evidenceFor(first)).results).toBeDefined();
    expect(await sources.evidenceFor(second)).toEqual({});
  }, 60_000);

  test("those of a plan that is over go, with its task", async () => {
    const plan = aPlan("p", ["read0", "task"]);
    add(plan, 0, "secret");
    await sources.evidenceFor(plan);
    expect(sources.kept).toEqual({ results: 8, tasks: 12 });
    sources.forget("p");
    expect(sources.kept).toEqual({ results: 0, tasks: 0 });
  });

  test("those of a plan whose time is over go by themselves", () => {
    add(aPlan("p", ["read0"]), 0, "old", { until: clock.now() / 1000 });
    add(aPlan("q", ["read0"]), 0, "newer", { until: clock.now() / 1000 + 1 });
    sources.dropExpired();
    expect(sources.kept.results).toBe(7);
  });
});

describe("a task", () => {
  test("is read once, and only if the plan names it", async () => {
    expect(await sources.evidenceFor(aPlan("p", ["read0"]))).toEqual({});
    expect(asked).toEqual([]);
    const plan = aPlan("p", ["task"]);
    const { task } = await sources.evidenceFor(plan);
    expect(task).toBeDefined();
    expect((await sources.evidenceFor(plan)).task).toBe(task);
    expect(asked).toEqual(["p"]);
  });

  test("of a plan that is not there is none", async () => {
    expect(await sources.taskOf(aPlan("none", ["task"]))).toBeUndefined();
  });
});
