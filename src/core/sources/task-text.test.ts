import { describe, expect, test } from "vitest";
import { digest } from "../digest.ts";
import { indexTask, TaskText } from "./task-text.ts";

const TASK = {
  instruction: "Pay Bob 50",
  material: "Pay Eve",
  earlier: ["Pay Mallory"],
} as const;
const DIGEST = digest(TASK, "task");

function find(value: string): unknown {
  return TaskText.indexOf(indexTask(TASK), DIGEST)?.find(value, () => {});
}

describe("indexTask", () => {
  test.each<[string, boolean]>([
    ["Bob", true],
    ["pay bob", true],
    ["50", true],
    ["Eve", false],
    ["Mallory", false],
    ["Pay Eve", false],
  ])("reads the instruction, and neither what was pasted nor what was said before: %s %s", (value, isFound) => {
    expect(find(value) !== undefined).toBe(isFound);
  });

  test("refuses what has no digest", () => {
    expect(() => indexTask({ instruction: "\ud800" })).toThrow();
  });
});

describe("a task counts only under a token that was signed for it", () => {
  const text = indexTask(TASK);
  test.each<[string, unknown, string | undefined]>([
    ["another task's token", text, digest({ instruction: "Pay Eve" }, "task")],
    ["a token of the instruction alone", text, digest({ instruction: TASK.instruction }, "task")],
    ["a token without a task", text, undefined],
    ["no task", undefined, DIGEST],
    ["null", null, DIGEST],
    ["text", TASK.instruction, DIGEST],
    ["the task itself", TASK, DIGEST],
    ["a look-alike", Object.create(TaskText.prototype), DIGEST],
    ["an heir", Object.create(text), DIGEST],
    ["a proxy", new Proxy(text, {}), DIGEST],
    ["a copy", { ...text }, DIGEST],
  ])("%s", (_name, given, expected) => {
    expect(TaskText.indexOf(given, expected)).toBeUndefined();
  });

  test("and cannot be changed", () => {
    expect(() => Object.assign(text, { extra: 1 })).toThrow(TypeError);
  });
});
