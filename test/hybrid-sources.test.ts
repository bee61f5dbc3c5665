import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HybridGate } from "../src/gates/hybrid.ts";
import { aPolicy, aRule, summarize } from "./builders.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";
import { aFolder } from "./server-gates.ts";
import { aServer, PUBLIC_URL } from "./servers.ts";
import { planOf } from "./sessions.ts";

const POLICY = aPolicy(
  aRule({ id: "ask", match: { tool: "post_comment" }, decision: "hold", approvers: { roles: ["approver"] } }),
  aRule(),
);

/** A plan with a result on record and a call that waits for a person, and a gate for each process. */
async function aRunThatWaits() {
  const under = await aServer({ policy: POLICY });
  onTestFinished(() => under.close());
  const startProcess = async (): Promise<HybridGate> => {
    const outbox = join(await aFolder(), "outbox.db");
    const { fetch } = under.server;
    const options = { baseUrl: PUBLIC_URL, apiKey: under.agent.apiKey, clock: under.clock.now, outbox };
    const gate = new HybridGate({ ...options, fetch: async (request) => await fetch(request) });
    onTestFinished(() => gate.close());
    return gate;
  };
  const gate = await startProcess();
  const plan = await gate.sign(
    aSignRequest({
      task: { instruction: "Pay the invoice, or DE05" },
      plan: planOf(
        { id: "read", tool: "read_file" },
        { tool: "post_comment" },
        { tool: "send_money", args: { to: { from: ["task", "read"] } } },
      ),
    }),
  );
  const reading = await gate.check(plan, aGateCall({ tool: "read_file" }));
  expect(summarize(reading)).toBe("allow");
  const { planId, seq = -1 } = reading;
  await gate.record({ type: "outcome", planId, decisionSeq: seq, status: "ok", result: "DE01" });
  const hold = await gate.check(plan, aGateCall({ tool: "post_comment" }));
  if (hold.verdict !== "hold") throw new Error(summarize(hold));
  await gate.openHold(hold);
  return { gate, planId, startProcess };
}

async function verdictsOf(gate: HybridGate, planId: string): Promise<string[]> {
  const plan = await gate.resume(planId);
  const verdicts: string[] = [];
  for (const to of ["DE05", "DE01", "DE99"])
    verdicts.push(summarize(await gate.check(plan, aGateCall({ args: { to } }))));
  return verdicts;
}

test("a run that goes on in another process has its task, and no result of the first", async () => {
  const { gate, planId, startProcess } = await aRunThatWaits();
  await gate.close();
  const verdicts = await verdictsOf(await startProcess(), planId);
  expect(verdicts).toEqual(["allow", "block:not_in_plan", "block:not_in_plan"]);
});

test("a run that goes on where it was has its results too", async () => {
  const { gate, planId } = await aRunThatWaits();
  expect(await verdictsOf(gate, planId)).toEqual(["allow", "allow", "block:not_in_plan"]);
});
