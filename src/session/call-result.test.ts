import { describe, expect, test } from "vitest";
import { allow, aSession, aSessionCall, planOf, ScriptedGate } from "../../test/sessions.ts";
import type { Outcome } from "../gates/index.ts";
import type { RunOptions, RunResult, Session } from "./session.ts";

const PLAN = planOf(
  { id: "first", tool: "send_money" },
  { tool: "send_money", args: { to: { from: "first" } } },
  { id: "unnamed", tool: "send_money" },
);

/** A session whose calls are all allowed by one step of the plan. */
async function sessionAt(step = 0): Promise<{ readonly session: Session; readonly gate: ScriptedGate }> {
  const gate = new ScriptedGate({ check: [(call) => ({ ...allow(call), step })] });
  return { session: (await aSession({ gate, plan: PLAN })).session, gate };
}

function resultsOf({ outcomes }: ScriptedGate): unknown[] {
  return outcomes.map((outcome) => ("result" in outcome ? outcome.result : "none"));
}

/** An object that cannot be looked at without being noticed. */
function untouchable(): object {
  const refuse = (): never => {
    throw new Error("looked at");
  };
  // Whoever awaits it asks for its `then`.
  const get = (_target: object, key: PropertyKey): undefined => (key === "then" ? undefined : refuse());
  return new Proxy({}, { get, ownKeys: refuse, getOwnPropertyDescriptor: refuse });
}

const given = { iban: "DE1", deep: { owner: "Dora" } };

type Way = (session: Session, content: unknown) => Promise<unknown>;

const ways: readonly (readonly [string, Way])[] = [
  ["run", (session, content) => session.run(aSessionCall(), async () => content)],
  ["run that a tool answers at once", (session, content) => session.run(aSessionCall(), () => content)],
  [
    "stream, its last part",
    (session, content) =>
      drain(
        session.stream(aSessionCall(), async function* () {
          yield "first part";
          yield content;
        }),
      ),
  ],
  [
    "admit",
    async (session, content) => {
      const admitted = await session.admit(aSessionCall());
      if (admitted.isError) throw new Error(admitted.content);
      await admitted.claim();
      await admitted.settle("ok", { result: content });
    },
  ],
];

async function drain(parts: AsyncGenerator<unknown, RunResult<unknown>>): Promise<RunResult<unknown>> {
  let step = await parts.next();
  while (!step.done) step = await parts.next();
  return step.value;
}

describe("what a call gave", () => {
  test.each(ways)("goes to the gate with its outcome, as it is: %s", async (_name, settle) => {
    const { session, gate } = await sessionAt();
    const content = { ...given };
    await settle(session, content);
    expect(gate.outcomes).toMatchObject([{ status: "ok", durationMs: expect.any(Number) }]);
    expect((gate.outcomes[0] as Outcome & { type: "outcome" }).result).toBe(content);
  });

  test.each([
    ["that draws on another", 1],
    ["whose id nobody names", 2],
    ["that there is not", 9],
  ])("does not under a step %s, and is not looked at", async (_name, step) => {
    for (const [, settle] of ways) {
      const { session, gate } = await sessionAt(step);
      await settle(session, untouchable());
      expect(gate.outcomes).toMatchObject([{ status: "ok" }]);
      expect(resultsOf(gate)).toEqual(["none"]);
    }
  });

  test("does not if there is nothing, or the tool failed, was suspended, or was not reached", async () => {
    const { session, gate } = await sessionAt();
    const boom = async (): Promise<never> => await Promise.reject(new Error("DE1"));
    await session.run(aSessionCall(), () => undefined);
    await session.run(aSessionCall(), boom);
    await session.run(aSessionCall({ replayKey: "step" }), boom, { isSuspension: () => true });
    await drain(
      session.stream(aSessionCall(), async function* () {
        yield "DE1";
        throw new Error("boom");
      }),
    );
    for (const status of ["failed", "aborted", "unknown"] as const) {
      const admitted = await session.admit(aSessionCall());
      if (admitted.isError) throw new Error(admitted.content);
      await admitted.claim();
      await admitted.settle(status, { result: given });
    }
    await session.close();
    const ends = gate.outcomes.map((outcome) => (outcome.type === "outcome" ? outcome.status : outcome.type));
    expect(ends).toEqual(["ok", "failed", "failed", "failed", "aborted", "unknown", "unknown", "closed"]);
    expect(resultsOf(gate)).toEqual(ends.map(() => "none"));
  });

  test("does not if the reader of a stream stops, however much there was", async () => {
    const { session, gate } = await sessionAt();
    const parts = session.stream(aSessionCall(), async function* () {
      yield given;
      yield given;
    });
    await parts.next();
    await parts.return(undefined as never);
    expect(gate.outcomes).toMatchObject([{ status: "unknown" }]);
    expect(resultsOf(gate)).toEqual(["none"]);
  });

  test("comes with the call that goes on after a suspension", async () => {
    const { session, gate } = await sessionAt();
    const call = aSessionCall({ replayKey: "step" });
    const options: RunOptions<object> = { isSuspension: () => true };
    await session.run(call, () => Promise.reject(new Error("wait")), options);
    await session.run<object>(call, () => given, options);
    expect(resultsOf(gate)).toEqual([given]);
  });

  test("is what an adapter says that the tool said", async () => {
    const { session, gate } = await sessionAt();
    const framed = { id: "call-1", content: given };
    const result = await session.run(aSessionCall(), () => framed, { resultOf: ({ content }) => content });
    expect(result.content).toBe(framed);
    expect(resultsOf(gate)).toEqual([given]);
  });

  test("costs the outcome nothing if an adapter cannot say it", async () => {
    const { session, gate } = await sessionAt();
    const resultOf = (): never => {
      throw new Error("what is this?");
    };
    expect(await session.run(aSessionCall(), () => given, { resultOf })).toMatchObject({ content: given });
    expect(gate.outcomes).toMatchObject([{ status: "ok" }]);
    expect(resultsOf(gate)).toEqual(["none"]);
  });
});
