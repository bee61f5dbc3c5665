import { describe, expect, test, vi } from "vitest";
import {
  aLock,
  aPayTool,
  aToolCall,
  DONE,
  readResults,
  runWith,
  scriptedModel,
  stepsOf,
  WAYS,
} from "../../../test/ai-sdk.ts";
import { listEntries } from "../../../test/sessions.ts";

const GHOST = aToolCall("ghost", {});
const WRONG = aToolCall("pay", { amount: "all" });
const RIGHT = aToolCall("pay", { amount: 20 });

describe.each(WAYS)("%s", (way) => {
  test.each([
    ["of a tool that there is not", GHOST, "ghost-1:unknown_tool"],
    ["whose arguments the schema rejects", WRONG, "pay-1:invalid_args"],
    ["whose arguments are not JSON", { ...WRONG, input: "{to:" }, "pay-1:invalid_args"],
  ])("a call %s is on record once, and the model reads what the SDK says", async (_name, call, entry) => {
    const { pay, runs } = aPayTool();
    const { settings, audit } = await aLock({ pay }, stepsOf({ tool: "pay" }));
    const model = scriptedModel([call], DONE);
    await runWith(way, { model, ...settings });
    expect(listEntries(audit)).toEqual([entry]);
    expect(readResults(model)[call.toolCallId]).toMatchObject({ type: "error-text" });
    expect(runs).toEqual([]);
  });

  test("a call that the application repairs is checked, and is on record as what it has become", async () => {
    const { pay, runs } = aPayTool();
    const repairToolCall = vi.fn(async () => RIGHT);
    const { settings, audit } = await aLock({ pay }, stepsOf({ tool: "pay" }), { repairToolCall });
    await runWith(way, { model: scriptedModel([WRONG], DONE), ...settings });
    expect(repairToolCall).toHaveBeenCalledTimes(1);
    expect(listEntries(audit)).toEqual(["pay-1:allow", "ok"]);
    expect(runs).toEqual([{ amount: 20 }]);
  });

  test.each([
    ["gives up", async () => null],
    ["gives another call that the schema rejects", async () => WRONG],
    ["gives a call of a tool that there is not", async () => GHOST],
    ["gives a call of what is no tool of the set", async () => aToolCall("constructor", {})],
    ["throws", async () => await Promise.reject(new Error("no repair"))],
  ])("a call is on record once if the application's repair %s", async (_name, repairToolCall) => {
    const { pay, runs } = aPayTool();
    const { settings, audit } = await aLock({ pay }, stepsOf({ tool: "pay" }), { repairToolCall });
    await runWith(way, { model: scriptedModel([WRONG], DONE), ...settings });
    expect(listEntries(audit)).toEqual(["pay-1:invalid_args"]);
    expect(runs).toEqual([]);
  });
});
