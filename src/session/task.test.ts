import { expect, test } from "vitest";
import { type TaskInput, toTask } from "./task.ts";

test.each<[string, TaskInput, object]>([
  ["the user's words", "Pay the rent", { instruction: "Pay the rent" }],
  ["words and material", { instruction: "Sum it up", material: "…" }, { instruction: "Sum it up", material: "…" }],
  ["empty material", { instruction: "a", material: "" }, { instruction: "a", material: "" }],
  ["earlier messages", { instruction: "b", earlier: ["a"] }, { instruction: "b", earlier: ["a"] }],
])("takes %s", (_name, input, task) => {
  expect(toTask(input)).toEqual(task);
});

test("later changes of the messages are not seen", () => {
  const earlier = ["a"];
  const task = toTask({ instruction: "b", earlier });
  earlier.push("an answer of the model");
  expect(task.earlier).toEqual(["a"]);
});

test("fields that a task does not have are left out", () => {
  expect(toTask({ instruction: "a", policy: "secret" } as TaskInput)).toEqual({ instruction: "a" });
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["an empty text", ""],
  ["white space", " \n"],
  ["no instruction", {}],
  ["an instruction that is no text", { instruction: ["a"] }],
  ["material that is no text", { instruction: "a", material: { url: "…" } }],
  ["one message in place of a list", { instruction: "a", earlier: "b" }],
  ["messages that are no texts", { instruction: "a", earlier: [{ role: "assistant", content: "b" }] }],
])("refuses %s", (_name, input) => {
  expect(() => toTask(input as TaskInput)).toThrow(expect.objectContaining({ code: "ERR_INVALID_OPTIONS" }));
});
