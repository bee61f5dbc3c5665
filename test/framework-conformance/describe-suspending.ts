import { describe, expect, test } from "vitest";
import { HoldingGate } from "../holding-gate.ts";
import { planOf, ScriptedGate } from "../sessions.ts";
import { aTestCall, aTestTool } from "./describe-framework.ts";
import { MODES, type Turn } from "./framework.ts";
import type { SuspendingFramework } from "./suspending.ts";

const ARGS = aTestCall().args;
const PLAN = planOf({ tool: "pay" }, { tool: "read" });
const DONE: Turn = { text: "done" };
const PAY: readonly Turn[] = [{ calls: [aTestCall()] }, DONE];

/** The cases of calls that wait for a person while nothing runs, through the real framework. */
export function describeSuspending(framework: SuspendingFramework): void {
  /** A run that pays, which a person has to approve, and may read. */
  const aRun = async (turns: readonly Turn[] = PAY) => {
    const gate = new HoldingGate("pay");
    const pay = aTestTool();
    const read = aTestTool({ name: "read" });
    const run = await framework.suspend({ gate, tools: [pay, read], plan: PLAN, turns });
    return { gate, pay, read, ...run };
  };

  describe.each(MODES)(`${framework.name}, %s, a held call that is suspended`, (mode) => {
    test("has not run when the run returns, in the framework's own way", async () => {
      const { gate, pay, begin } = await aRun();
      const { pending, error, asked, text } = await begin(mode);
      expect(error).toBeUndefined();
      expect(pending).toEqual(["pay"]);
      expect(pay.runs).toEqual([]);
      expect(gate.opened).toEqual([JSON.stringify(["pay", ARGS])]);
      expect(asked).toHaveLength(1);
      expect(text).not.toBe("done");
    });

    test.each([
      ["this process", false],
      ["another process", true],
    ])("runs once when %s goes on, if a person has approved it", async (_name, elsewhere) => {
      const { gate, pay, begin, goOn } = await aRun();
      await begin(mode);
      gate.decide("approved");
      const { pending, results, text, error } = await goOn(mode, { says: true, elsewhere });
      expect(error).toBeUndefined();
      expect(pay.runs).toEqual([ARGS]);
      expect(results).toEqual([{ id: "call-1", text: `ran with ${JSON.stringify(ARGS)}` }]);
      expect([pending, text]).toEqual([[], "done"]);
      expect(gate.checks.map(({ approval }) => approval).filter(Boolean)).toEqual(["hold-1"]);
      expect(gate.outcomes.filter(({ type }) => type === "outcome")).toMatchObject([{ status: "ok" }]);
      expect(gate.signs).toHaveLength(1);
    });

    test.each([
      ["this process", false],
      ["another process", true],
    ])("does not run when %s goes on and nobody has decided, whatever a client says", async (_name, elsewhere) => {
      const { gate, pay, begin, goOn } = await aRun();
      await begin(mode);
      const { pending, results, error } = await goOn(mode, { says: true, elsewhere });
      expect(error).toBeUndefined();
      expect(pay.runs).toEqual([]);
      expect(gate.opened).toHaveLength(1);
      if (framework.undecided === "suspended") expect(pending).toEqual(["pay"]);
      else expect(results[0]?.text).toContain("a person has to approve this action");
    });

    test("can be gone on with again, after nobody had decided", async () => {
      const { gate, pay, begin, goOn } = await aRun([{ calls: [aTestCall()] }, { calls: [aTestCall()] }, DONE]);
      await begin(mode);
      await goOn(mode, { says: true });
      gate.decide("approved");
      await goOn(mode, { says: true });
      expect(pay.runs).toEqual([ARGS]);
    });

    test("does not run if a person said no, whatever a client says, and the model reads it", async () => {
      const { gate, pay, begin, goOn } = await aRun();
      await begin(mode);
      gate.decide("rejected");
      const { results, text } = await goOn(mode, { says: true });
      expect(pay.runs).toEqual([]);
      expect(results).toHaveLength(1);
      expect(results[0]?.text).toContain("Blocked by Intentlock (hold_rejected)");
      expect(text).toBe("done");
    });

    test("runs no second time when a run that has gone on is told to go on again", async () => {
      const { gate, pay, begin, goOn } = await aRun();
      await begin(mode);
      gate.decide("approved");
      await goOn(mode, { says: true });
      await goOn(mode, { says: true }).catch(() => undefined);
      expect(pay.runs).toEqual([ARGS]);
    });

    test("does not run for another user who says that it goes on", async () => {
      const { gate, pay, begin, goOn } = await aRun();
      await begin(mode);
      gate.decide("approved");
      const elsewhere = goOn(mode, { says: true, elsewhere: true, user: "mallory@acme.dev" });
      const { error } = await elsewhere.catch((thrown: unknown) => ({ error: thrown }));
      expect((error as Error).message).toContain("There is no such plan of this user");
      expect(pay.runs).toEqual([]);
    });

    test("keeps no other call of the same step from running, and that one runs once", async () => {
      const calls = [aTestCall(), aTestCall({ id: "call-2", tool: "read", args: { to: "page" } })];
      const { gate, pay, read, begin, goOn } = await aRun([{ calls }, DONE]);
      const { pending } = await begin(mode);
      expect(pending).toEqual(["pay"]);
      expect([pay.runs, read.runs]).toEqual([[], [{ to: "page" }]]);
      gate.decide("approved");
      const { results, text } = await goOn(mode, { says: true });
      expect([pay.runs, read.runs]).toEqual([[ARGS], [{ to: "page" }]]);
      expect(results.map(({ id }) => id).toSorted()).toEqual(["call-1", "call-2"]);
      expect(text).toBe("done");
    });

    test("beside another waits for itself", async () => {
      const calls = [aTestCall(), aTestCall({ id: "call-2", args: { to: "bank" } })];
      const { gate, pay, begin, goOn } = await aRun([{ calls }, DONE]);
      expect((await begin(mode)).pending).toEqual(framework.tellsOneAlone?.includes(mode) ? ["pay"] : ["pay", "pay"]);
      expect(gate.opened).toHaveLength(2);
      gate.decide("approved");
      const { text } = await goOn(mode, { says: true });
      expect(pay.runs).toHaveLength(2);
      expect(pay.runs).toEqual(expect.arrayContaining([ARGS, { to: "bank" }]));
      expect(text).toBe("done");
    });
  });

  test(`${framework.name}: a gate that nobody can be asked through is refused`, async () => {
    const pay = aTestTool();
    const refused = async (): Promise<unknown> => {
      const run = await framework.suspend({ gate: new ScriptedGate(), tools: [pay], plan: PLAN, turns: PAY });
      return (await run.begin("generate")).error;
    };
    const error = await refused().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ERR_INVALID_OPTIONS" });
    expect(pay.runs).toEqual([]);
  });
}
