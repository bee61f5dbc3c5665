import { RunTree } from "langsmith/run_trees";
import { expect, test } from "vitest";
import { overlay } from "./overlay.ts";

const KEY = Symbol("variables");
const aRun = () => new RunTree({ name: "a run", tracingEnabled: false });

test("reads like a copy with the properties on top", () => {
  const run = aRun();
  const over = overlay(run, { [KEY]: 1, name: "over" }) as typeof run & { [KEY]?: number };
  expect([over.name, over[KEY], over.id, over.project_name]).toEqual(["over", 1, run.id, run.project_name]);
  expect({ ...over }).toEqual({ ...run, [KEY]: 1, name: "over" });
  expect(["id" in over, KEY in over, "createChild" in over, "nothing" in over]).toEqual([true, true, true, false]);
  expect(Object.keys(over)).toEqual(Object.keys(run));
});

test("is one of its class, and is copied as one", () => {
  const over = overlay(aRun(), { [KEY]: 1 }) as RunTree;
  expect(over).toBeInstanceOf(RunTree);
  expect({ ...new RunTree(over) }).toEqual({ ...over });
  expect(over.createChild({ name: "a child" }).parent_run?.id).toBe(over.id);
});

test("what is written to it stays with it", () => {
  const run = aRun();
  const properties = { [KEY]: 1 };
  const over = overlay(run, properties) as RunTree;
  over.name = "over";
  Object.assign(over, { [KEY]: 2, more: true });
  expect([over.name, Reflect.get(over, KEY), Reflect.get(over, "more")]).toEqual(["over", 2, true]);
  expect([run.name, KEY in run, "more" in run, properties[KEY]]).toEqual(["a run", false, false, 1]);
});

test("what is below may be frozen, and without a prototype", () => {
  const below = Object.freeze(Object.assign(Object.create(null) as object, { a: 1, b: 2 }));
  const over = overlay(below, { b: 3, c: 4 });
  expect({ ...over }).toEqual({ a: 1, b: 3, c: 4 });
  expect(Object.getPrototypeOf(over)).toBeNull();
});
