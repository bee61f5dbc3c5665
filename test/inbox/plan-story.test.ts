import { expect, test } from "vitest";
import { chainEntry } from "../../src/core/index.ts";
import { ALICE } from "../builders.ts";
import { ROOT } from "../servers.ts";
import { aDecision, addPlan, appendEvents } from "../store-builders.ts";
import { describeInBrowser } from "./in-browser.ts";

describeInBrowser("the story of a plan", ({ startServer, openAs }) => {
  test("is shown at the entry that the address points to, however far it is", async () => {
    const server = await startServer();
    const plan = await addPlan(server.store);
    await appendEvents(
      server.store,
      plan,
      Array.from({ length: 450 }, (_, index) => aDecision(plan, `call ${index}`)),
    );
    const page = await openAs(server, ROOT);
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes("/story") && asked.push(new URL(request.url()).search));
    await page.goto(`${server.url}/plans/${plan.id}#seq-430`);
    const focused = (): Promise<string> => page.evaluate("document.activeElement.id");
    await expect.poll(focused).toBe("seq-430");
    await page.getByRole("link", { name: "Entry 430", exact: true }).waitFor();
    expect(asked).toEqual(["?from=380"]);

    // What was before comes when somebody asks for it.
    const entries = page.getByRole("link", { name: /^Entry \d+$/ });
    expect(await entries.count()).toBe(71);
    await page.getByRole("button", { name: "Load what was before entry 380" }).click();
    await page.getByRole("button", { name: "Load what was before entry 180" }).click();
    await expect.poll(() => entries.count()).toBe(451);
    expect(await page.getByRole("button", { name: /^Load/ }).count()).toBe(0);
    expect(await entries.first().textContent()).toBe("0");
    expect(asked).toEqual(["?from=380", "?from=180&limit=200", "?from=0&limit=180"]);

    // From one entry to another, and to one that there is not.
    await page.evaluate("location.hash = '#seq-7'");
    await expect.poll(focused).toBe("seq-7");
    await page.evaluate("location.hash = '#seq-451'");
    await page.getByText("Entry 451 is not on record").waitFor();
    await page.goto("about:blank");
    await page.goto(`${server.url}/plans/${plan.id}#seq-99999`);
    await page.getByText("Entry 99999 is not on record").waitFor();
    await page.getByRole("link", { name: "Entry 0", exact: true }).waitFor();
  });

  test("is told whatever a client wrote into it", async () => {
    const server = await startServer();
    const plan = await addPlan(server.store);
    const event = { type: "outcome", decisionSeq: 77, status: "ok" } as const;
    // No browser has a time for that.
    const { entry, head } = chainEntry(plan.head, event, { at: Number.MAX_SAFE_INTEGER });
    const change = { used: [0], spent: { calls: 0, payoutMicros: 0 }, openCalls: {}, now: Date.now() };
    await server.store.plans.append(plan.id, { expectSeq: 1, entries: [entry], head: head.prev, ...change });
    await server.store.plans.flag(plan.id, { kind: "audit", at: 1, doubts: [{ seq: 1, problem: "nothing waited" }] });
    const page = await openAs(server, ROOT, { path: `/plans/${plan.id}` });
    await page.getByText("Of entry 77, which is no decision").waitFor();
    await page.getByRole("link", { name: "Entry 1", exact: true }).first().click();
    await expect.poll(() => page.url()).toContain("#seq-1");
  });

  test("is where administrators revoke it, with a reason, and nobody else", async () => {
    const server = await startServer();
    const { plan } = await server.hold();
    const path = `/plans/${plan.planId}`;
    const alice = await openAs(server, ALICE, { path });
    await alice.getByText("Held by rule").waitFor();
    const revoke = { name: "Revoke" } as const;
    expect(await alice.getByRole("button", revoke).count()).toBe(0);

    const page = await openAs(server, ROOT, { path });
    await page.getByRole("button", revoke).click();
    const dialog = page.getByRole("dialog", { name: "Revoke this plan?" });
    await dialog.getByLabel("Reason").fill("Not what was asked for <b>");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await server.store.plans.get(plan.planId)).toMatchObject({ status: "open" });

    await page.getByRole("button", revoke).click();
    await dialog.getByLabel("Reason").fill("Not what was asked for <b>");
    await dialog.getByRole("button", revoke).click();
    await page.getByText("Revoked because: Not what was asked for <b>").waitFor();
    await page.getByText("Taken back").waitFor();
    expect(await page.getByRole("button", revoke).count()).toBe(0);
    expect(await server.store.plans.get(plan.planId)).toMatchObject({ status: "revoked" });
  });
});
