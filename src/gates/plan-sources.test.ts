import { expect, test } from "vitest";
import { aPlan } from "../../test/builders.ts";
import type { Plan } from "../core/index.ts";
import type { Task } from "./gate.ts";
import { openSources } from "./plan-sources.ts";

const TASK: Task = { instruction: "Pay Bob" };
const READ = { tool: "read_mail", id: "mail" };
const NONE = aPlan(READ, { args: { to: { eq: "Bob" } } });
const FROM_TASK = aPlan({ args: { to: { from: "task" } } });
const FROM_STEP = aPlan(READ, { args: { to: { from: "mail" } } });

test.each<[string, Plan, Task | undefined, readonly string[] | undefined]>([
  ["that names no source", NONE, TASK, undefined],
  ["that names the task", FROM_TASK, TASK, ["results", "task"]],
  ["that names a task that nobody has here", FROM_TASK, undefined, ["results"]],
  ["that names a step", FROM_STEP, TASK, ["results"]],
  ["that names a step, without a task", FROM_STEP, undefined, ["results"]],
])("what is kept of a plan %s", (_name, plan, task, expected) => {
  const sources = openSources(plan, task);
  expect(sources && Object.keys(sources).toSorted()).toEqual(expected);
});
