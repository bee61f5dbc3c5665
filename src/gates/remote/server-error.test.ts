import { describe, expect, test } from "vitest";
import { createProblem } from "../../core/api/index.ts";
import { IntentlockError } from "../../core/index.ts";
import { ServerError, toRefusal, toServerError } from "./server-error.ts";

describe("an answer that is an error", () => {
  test.each<[number, string]>([
    [302, "ERR_SERVER_UNAVAILABLE"],
    [399, "ERR_SERVER_UNAVAILABLE"],
    [400, "ERR_REQUEST_REFUSED"],
    [401, "ERR_API_KEY_REJECTED"],
    [403, "ERR_REQUEST_REFUSED"],
    [404, "ERR_REQUEST_REFUSED"],
    [408, "ERR_SERVER_UNAVAILABLE"],
    [425, "ERR_SERVER_UNAVAILABLE"],
    [429, "ERR_SERVER_UNAVAILABLE"],
    [499, "ERR_REQUEST_REFUSED"],
    [500, "ERR_SERVER_UNAVAILABLE"],
    [503, "ERR_SERVER_UNAVAILABLE"],
  ])("%i is %s", (status, code) => {
    const error = toServerError(status, undefined, undefined);
    expect(error).toMatchObject({ code, status, message: `The server: It answered ${status}` });
    expect([error.problem, error.retryAfterMs]).toEqual([undefined, undefined]);
    expect(error).toBeInstanceOf(IntentlockError);
  });

  test("says what the server says of it, and when it may be asked again", () => {
    const problem = createProblem("rate_limited", { detail: "of one key" });
    const error = toServerError(429, problem, 0);
    expect(error).toMatchObject({ problem, retryAfterMs: 0 });
    expect(error.message).toBe(`The server: ${problem.title} (rate_limited): of one key`);
  });

  test("keeps its cause", () => {
    const cause = new Error("reset");
    expect(new ServerError("ERR_SERVER_UNAVAILABLE", "down", { cause }).cause).toBe(cause);
    expect(new ServerError("ERR_SERVER_UNAVAILABLE", "down")).toMatchObject({ status: undefined, cause: undefined });
  });
});

describe("the block of a call for which the server was needed", () => {
  const revoked = toServerError(409, createProblem("plan_revoked"), undefined);
  test.each<[string, unknown, string, string]>([
    ["no answer", new ServerError("ERR_SERVER_UNAVAILABLE", ""), "server_unavailable", "the server did not answer"],
    ["a key that is not let in", toServerError(401, undefined, undefined), "api_key_rejected", "the agent's key"],
    ["a refusal", toServerError(403, undefined, undefined), "gate_rejected", "the server refused the request"],
    ["a plan that was revoked", revoked, "plan_revoked", "the plan was revoked"],
    ["anything else", new TypeError("a bug"), "internal_error", "an error happened"],
    [
      "an error of ours that is none of the server's",
      new IntentlockError("ERR_CLOSED", ""),
      "internal_error",
      "an error",
    ],
    ["nothing", undefined, "internal_error", "an error happened"],
    ["a code that nobody knows", new ServerError("ERR_NEW" as never, ""), "internal_error", "an error happened"],
  ])("%s", (_name, error, reason, detail) => {
    expect(toRefusal(error)).toEqual({ reason, stage: "gate", detail: expect.stringContaining(detail) });
  });
});
