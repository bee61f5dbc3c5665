import { expect, test } from "vitest";
import { nameNested, type RunningCall } from "./nested-call.ts";
import type { Session } from "./session.ts";

const [MINE, OTHER] = [{}, {}] as unknown as readonly [Session, Session];

function running(callId: string, outer?: RunningCall, session = MINE): RunningCall {
  return { session, callId, outer, nested: 0 };
}

test.each<[string, RunningCall | undefined, string[]]>([
  ["nothing that runs", undefined, ["a", "a"]],
  ["a call of the same id", running("a"), ["a:1", "a:2"]],
  ["a call of another id", running("b"), ["a", "a"]],
  ["a call of the same id in another session", running("a", undefined, OTHER), ["a", "a"]],
  ["a call around the one that runs", running("b", running("a")), ["a:1", "a:2"]],
  ["calls of other sessions around it", running("a", running("b", undefined, OTHER), OTHER), ["a", "a"]],
])("a call made inside of %s has an id of its own, the same when it is made again", (_name, outer, names) => {
  expect(names.map(() => nameNested(outer, MINE, "a"))).toEqual(names);
});
