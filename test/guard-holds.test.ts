import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { CSRF_HEADER } from "../src/core/api/index.ts";
import { HybridGate, openOutbox } from "../src/gates/index.ts";
import { RunStatus } from "../src/guard/index.ts";
import { nameSessionCookie } from "../src/server/people/session-cookie.ts";
import { aToolCall, DONE, readResults, scriptedModel } from "./ai-sdk.ts";
import { aPolicy, aRule } from "./builders.ts";
import { aGuard, EXPLICIT } from "./guards.ts";
import { addSession } from "./people.ts";
import { aFolder, inProcess } from "./server-gates.ts";
import { aServer, askServer, PUBLIC_URL } from "./servers.ts";
import { listEvents } from "./sessions.ts";
import { BOB } from "./store-builders.ts";

const LANDLORD = { to: "landlord", amount: 20 };
const POLICY = aPolicy(
  aRule({ id: "ask", match: { tool: "pay" }, decision: "hold", approvers: { roles: ["approver"] } }),
  aRule(),
);

/** A guard whose gate has a server, and somebody there who decides what waits. */
async function aGuardWithServer(decision: "approve" | "reject") {
  const under = await aServer({ policy: POLICY });
  onTestFinished(() => under.close());
  const outbox = await openOutbox({ path: join(await aFolder(), "outbox.db") });
  onTestFinished(() => outbox.close());
  const { apiKey, agentId } = under.agent;
  const gate = new HybridGate({ ...(await inProcess(under)), apiKey, clock: under.clock.now, outbox });
  onTestFinished(() => gate.close());
  const decide = async (): Promise<void> => {
    const holds = await vi.waitFor(
      async () => {
        const pending = await under.store.holds.list({ agentId, status: "pending" });
        expect(pending).toHaveLength(1);
        return pending;
      },
      { interval: 5, timeout: 20_000 },
    );
    const session = await addSession(under.server.context, BOB);
    const cookie = `${nameSessionCookie(PUBLIC_URL)}=${session.token}`;
    const headers = { cookie, [CSRF_HEADER]: session.csrf, origin: PUBLIC_URL };
    await askServer(under.server, "POST", `/v1/holds/${holds[0]?.id}/decision`, { body: { decision }, headers });
  };
  const provider = scriptedModel([aToolCall("read"), aToolCall("pay", LANDLORD)], DONE);
  return { ...aGuard({ gate, provider }), provider, decide };
}

test("a run waits until a person has approved, and goes on", async () => {
  const { guard, runs, events, decide } = await aGuardWithServer("approve");
  const [result] = await Promise.all([guard.run(EXPLICIT), decide()]);
  expect(result).toMatchObject({ status: RunStatus.COMPLETED, text: "done" });
  expect(result.decisions).toContainEqual(expect.objectContaining({ verdict: "allow", tool: "pay", approvedBy: BOB }));
  expect(runs).toEqual([LANDLORD]);
  expect(listEvents(events)).toEqual(expect.arrayContaining(["hold", "approved"]));
});

test("a run whose call is rejected goes on without it", async () => {
  const { guard, runs, provider, decide } = await aGuardWithServer("reject");
  const [result] = await Promise.all([guard.run(EXPLICIT), decide()]);
  expect([result.status, runs]).toEqual([RunStatus.COMPLETED, []]);
  expect(readResults(provider)["pay-1"]).toMatchObject({ value: expect.stringContaining("(hold_rejected)") });
});

test("a run for somebody whom the server does not know is none", async () => {
  const { guard, events, provider } = await aGuardWithServer("approve");
  const running = guard.run({ ...EXPLICIT, user: "mallory@acme.dev" });
  await expect(running).rejects.toMatchObject({ code: "ERR_UNKNOWN_USER" });
  expect(listEvents(events)).toEqual(["error"]);
  expect(provider.doGenerateCalls).toEqual([]);
});
