import { expect, test } from "vitest";
import { JsonProblem } from "../core/json.ts";
import { describeThrown } from "./describe-thrown.ts";

/** A value of which nothing can be asked. */
const hostileProxy: object = new Proxy(
  {},
  {
    get: () => {
      throw new Error("no get");
    },
    getPrototypeOf: () => {
      throw new Error("no prototype");
    },
  },
);

test.each([
  ["an error", new Error("boom"), "boom"],
  ["an error without a message", new Error(), ""],
  ["a text", "boom", "boom"],
  ["undefined", undefined, "undefined"],
  ["null", null, "null"],
  ["a symbol", Symbol("s"), "Symbol(s)"],
  [
    "a problem of JSON with its path",
    new JsonProblem(["a", 0], "bigint is not JSON"),
    "not strict JSON at a[0]: bigint is not JSON",
  ],
  [
    "a problem of the whole value",
    new JsonProblem([], "undefined is not JSON"),
    "not strict JSON: undefined is not JSON",
  ],
  ["an object without a prototype", Object.create(null), "an error that cannot be read"],
  [
    "an error whose message is no text",
    Object.assign(new Error(), { message: Symbol("m") }),
    "an error that cannot be read",
  ],
  ["a proxy", hostileProxy, "an error that cannot be read"],
  [
    "a toString that throws",
    {
      toString: () => {
        throw new Error("no text");
      },
    },
    "an error that cannot be read",
  ],
])("says what was thrown: %s", (_name, thrown, words) => {
  expect(describeThrown(thrown)).toBe(words);
});
