import { expect, test } from "vitest";
import { aSession } from "../../../test/sessions.ts";
import { noteModelCall, takeModelCall } from "./model-calls.ts";

test("calls of a model are as many as it has made, whatever their ids, and each session's own", async () => {
  const { session } = await aSession();
  const { session: other } = await aSession();
  for (const id of ["a", "b", "a"]) noteModelCall(session, id);
  const taken = ["a", "a", "a", "b", "c"].map((id) => takeModelCall(session, id));
  expect(taken).toEqual([true, true, false, true, false]);
  noteModelCall(session, "a");
  expect([takeModelCall(other, "a"), takeModelCall(session, "a")]).toEqual([false, true]);
});
