import { expect, test } from "vitest";
import { openStore } from "../../src/server/store/index.ts";
import { ROOT } from "../servers.ts";
import { BOB } from "../store-builders.ts";
import { liveAWeek } from "./a-week.ts";
import { describeInBrowser } from "./in-browser.ts";
import { findBarriers } from "./open-page.ts";
import { rewriteLine } from "./rewrite-line.ts";
import { INVOICE_POLICY } from "./week-scenes.ts";

describeInBrowser("a policy", ({ startServer, openAs }) => {
  test("is written with its errors and its effects in sight, published, compared and rolled back", async () => {
    const store = await openStore({ sqlite: ":memory:" });
    const week = await liveAWeek(store);
    const server = await startServer({ store, agent: week.support });
    const { agentId } = week.invoices;
    const page = await openAs(server, ROOT, { path: "/policies" });
    await page
      .getByRole("link", { name: /invoice-runner/ })
      .first()
      .click();
    const summary = page.getByRole("region", { name: "What would change" }).getByRole("status");
    await summary.getByText(/^None of 50 decisions/).waitFor();

    // An error is at its line, and in words, while one writes.
    const issues = page.getByRole("region", { name: "The policy" }).getByRole("button", { name: /^Line \d+/ });
    await rewriteLine(page, "decision: hold", 4, "ask");
    const [line] = INVOICE_POLICY.split("\n").flatMap((text, at) => (text.includes("decision: hold") ? [at + 1] : []));
    await issues
      .filter({ hasText: `Line ${line}` })
      .first()
      .waitFor();
    expect(await page.locator(".cm-lintRange-error").count()).toBeGreaterThan(0);
    expect(await page.getByRole("button", { name: "Publish…" }).isDisabled()).toBe(true);
    await rewriteLine(page, "decision: ask", 3, "hold");
    await expect.poll(() => issues.count()).toBe(0);

    // What it would change is beside it, the old verdict and the new one.
    await rewriteLine(page, "amount: { gte: 1000 }", 6, "400 }");
    await summary
      .getByText(/would change/)
      .filter({ hasNotText: "None" })
      .waitFor();
    const changed = page.getByRole("row").filter({ hasText: "send_payment" }).filter({ hasText: "Stricter" }).first();
    expect(await changed.textContent()).toMatch(/Allowed.*Held.*large-payments/);
    await page.getByRole("checkbox", { name: "Only changes" }).check();
    await expect.poll(() => page.getByRole("row").filter({ hasText: "read_invoice" }).count()).toBe(0);

    // A call that nobody has made.
    await page.getByRole("button", { name: "Add a sample call" }).click();
    const sample = page.getByRole("group", { name: "Sample call 1" });
    await sample.getByLabel("Tool").fill("update_account");
    await sample.getByLabel("Arguments (JSON)").fill('{"iban": ');
    await page.getByRole("checkbox", { name: "Only changes" }).uncheck();
    await sample.getByLabel("Arguments (JSON)").fill('{"iban": "DE00"}');
    const tried = page.getByRole("row").filter({ hasText: "update_account" }).filter({ hasText: "Sample" });
    expect(await tried.textContent()).toMatch(/Blocked.*no-new-accounts/);

    await page.getByRole("button", { name: "Publish…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/would change/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByLabel("Comment").fill("As the auditors asked");
    await dialog.getByRole("button", { name: "Publish", exact: true }).click();
    const versions = page.getByRole("region", { name: "Versions" }).getByRole("row");
    await versions.filter({ hasText: "Version 3" }).filter({ hasText: "As the auditors asked" }).waitFor();
    const latest = await store.policies.latest(agentId);
    expect(latest).toMatchObject({ version: 3, createdBy: ROOT, text: INVOICE_POLICY.replace("1000", "400") });

    await page.getByRole("button", { name: "Differences of version 3" }).click();
    await dialog.getByText("amount: { gte: 400 }").first().waitFor();
    await dialog.getByText("amount: { gte: 1000 }").first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Close" }).click();

    await page.getByRole("button", { name: "Roll back to version 2" }).click();
    await dialog.getByText("Roll back to version 2?").waitFor();
    await dialog.getByRole("button", { name: "Publish", exact: true }).click();
    await versions.filter({ hasText: "Version 4" }).filter({ hasText: "Back to version 2" }).waitFor();
    expect(await store.policies.latest(agentId)).toMatchObject({ version: 4, text: INVOICE_POLICY });
  });

  test("that somebody else publishes in the same moment is not overwritten unseen", async () => {
    const store = await openStore({ sqlite: ":memory:" });
    const week = await liveAWeek(store);
    const server = await startServer({ store, agent: week.support });
    const { agentId } = week.invoices;
    const page = await openAs(server, ROOT, { path: `/policies/${agentId}` });
    await rewriteLine(page, "amount: { gte: 1000 }", 6, "400 }");
    const theirs = INVOICE_POLICY.replace("1000", "900");
    // Whatever the page looks at before it publishes, they are faster.
    await page.route("**/v1/agents/*/policies", async (route) => {
      if (route.request().method() === "POST" && (await store.policies.latest(agentId))?.version === 2) {
        await store.policies.push({ agentId, text: theirs, createdAt: Date.now(), createdBy: BOB, comment: "Theirs" });
      }
      await route.continue();
    });
    await page.getByRole("button", { name: "Publish…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Publish", exact: true }).click();
    const conflict = dialog.getByRole("alert").filter({ hasText: "published version 3" });
    await conflict.filter({ hasText: "Theirs" }).waitFor();
    expect(await store.policies.latest(agentId)).toMatchObject({ version: 3, text: theirs });
    await dialog.getByText("Differences to version 3").waitFor();

    await dialog.getByRole("button", { name: "Publish all the same" }).click();
    const versions = page.getByRole("region", { name: "Versions" }).getByRole("row");
    await versions.filter({ hasText: "Version 4" }).waitFor();
    expect(await store.policies.latest(agentId)).toMatchObject({
      version: 4,
      text: INVOICE_POLICY.replace("1000", "400"),
    });
  });
});
