import { expect, test } from "vitest";
import type { TakenBatch } from "./messages.ts";
import { isForGood, toBatch, UploadError } from "./upload-batch.ts";

test.each([400, 403, 404, 409, 413, 422, 499])("a server that answers %i will answer so again", (status) => {
  expect(isForGood(status)).toBe(true);
});

test.each([undefined, 302, 399, 401, 408, 429, 500, 503])("a server that answers %s may answer otherwise", (status) => {
  expect(isForGood(status)).toBe(false);
});

test("an upload that failed says how", () => {
  const cause = new Error("reset");
  expect(new UploadError("no", { status: 503, retryAfterMs: 7, cause })).toMatchObject({
    code: "ERR_AUDIT_UPLOAD",
    message: "no",
    status: 503,
    retryAfterMs: 7,
    cause,
  });
  expect(new UploadError("no")).toMatchObject({ status: undefined, retryAfterMs: undefined });
});

test("a batch has its entries, its texts and its place in the chain", () => {
  const taken: TakenBatch = {
    planId: "plan-1",
    clientKey: '{"kid":"k"}',
    from: 3,
    prev: "before",
    head: "last",
    bodies: ['{"seq":3}', '{"seq":4}'],
  };
  const batch = toBatch(taken);
  expect(batch).toMatchObject({
    planId: "plan-1",
    clientKey: { kid: "k" },
    bodies: taken.bodies,
    from: { planId: "plan-1", seq: 3, prev: "before" },
    to: { planId: "plan-1", seq: 5, prev: "last" },
  });
  expect(batch.entries).toEqual([{ seq: 3 }, { seq: 4 }]);
  expect(toBatch({ ...taken, clientKey: null })).not.toHaveProperty("clientKey");
});
