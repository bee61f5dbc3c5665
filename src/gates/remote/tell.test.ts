import { expect, test } from "vitest";
import { createProblem } from "../../core/api/index.ts";
import { IntentlockError } from "../../core/index.ts";
import { toServerError } from "./server-error.ts";
import { codeOf, tell } from "./tell.ts";

test("a listener is told, and what it does with that is nobody's trouble", () => {
  const told: unknown[] = [];
  const trouble = { code: "clock_skew", message: "late" };
  tell((one) => told.push(one), trouble);
  tell(undefined, trouble);
  tell(() => {
    throw new Error("a bug of the listener");
  }, trouble);
  expect(told).toEqual([trouble]);
});

const refused = toServerError(409, createProblem("plan_revoked"), undefined);
const silent = toServerError(502, undefined, undefined);

test.each<[string, unknown, string]>([
  ["a problem of the server's by the server's code", refused, "plan_revoked"],
  ["an answer without a problem by ours", silent, "ERR_SERVER_UNAVAILABLE"],
  [
    "what was made of a problem by the problem",
    new IntentlockError("ERR_PLAN_REVOKED", "", { cause: refused }),
    "plan_revoked",
  ],
  ["an error of ours by its code", new IntentlockError("ERR_CLOSED", ""), "ERR_CLOSED"],
  ["one with another cause too", new IntentlockError("ERR_OUTBOX", "", { cause: new Error("disk") }), "ERR_OUTBOX"],
  ["any other error as ours", new TypeError("a bug"), "ERR_INTERNAL"],
  ["any other error with a cause", new TypeError("a bug", { cause: refused }), "ERR_INTERNAL"],
  ["nothing at all", undefined, "ERR_INTERNAL"],
])("%s is known", (_name, error, code) => {
  expect(codeOf(error)).toBe(code);
});
