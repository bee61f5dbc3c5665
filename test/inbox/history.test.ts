import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openStore } from "../../src/server/store/index.ts";
import { ALICE } from "../builders.ts";
import { ROOT } from "../servers.ts";
import { BOB } from "../store-builders.ts";
import { liveAWeek } from "./a-week.ts";
import { describeInBrowser } from "./in-browser.ts";
import { findBarriers } from "./open-page.ts";
import { ERIN } from "./week-scenes.ts";

/** In the browser: whether there is anything on the canvas. */
const IS_DRAWN = `(() => {
  const canvas = document.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value > 0);
})()`;

describeInBrowser("the history", ({ startServer, openAs }) => {
  test("is filtered, exported and told, from one link to the next", async () => {
    const store = await openStore({ sqlite: ":memory:" });
    const week = await liveAWeek(store);
    const server = await startServer({ store, agent: week.support });
    const page = await openAs(server, ROOT, { path: "/decisions" });
    const rows = page.getByRole("row").filter({ has: page.getByRole("link") });
    const filters = page.getByRole("search", { name: "Decisions" });
    await rows.first().waitFor();
    await filters.getByLabel("Verdict").selectOption("Blocked");
    // What is being typed stays while an answer comes.
    const answering = Promise.withResolvers<void>();
    await page.route("**/v1/decisions?*agentId=*", async (route) => {
      await answering.promise;
      await route.continue();
    });
    await filters.getByLabel("Agent").selectOption("invoice-runner");
    const reason = filters.getByLabel("Reason of a block");
    await reason.fill("no-new-accounts");
    answering.resolve();
    await expect.poll(async () => (await rows.allTextContents()).every((text) => text.includes("invoice"))).toBe(true);
    expect(await reason.inputValue()).toBe("no-new-accounts");
    await reason.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("reason")).toBe("no-new-accounts");
    const listTools = async (): Promise<readonly string[]> => {
      const links = await rows.getByRole("link").allTextContents();
      return [...new Set(links.map((text) => text.replace(/,.*/s, "")))];
    };
    await expect.poll(listTools).toEqual(["update_account"]);
    const shown = await rows.count();

    // What is chosen is in the address: it can be sent to others, and gone back from.
    await page.reload();
    await expect.poll(() => rows.count()).toBe(shown);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export JSON lines" }).click(),
    ]);
    const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
    const decisions = lines.map((line) => JSON.parse(line));
    expect(decisions).toHaveLength(shown);
    for (const { entry, agentName } of decisions) {
      expect(agentName).toBe("invoice-runner");
      expect(entry.event).toMatchObject({ type: "decision", tool: "update_account", verdict: "block" });
    }

    await filters.getByRole("button", { name: "Clear" }).click();
    await filters.getByLabel("Person").fill(ERIN);
    await filters.getByLabel("Person").press("Tab");
    await expect.poll(async () => (await rows.allTextContents()).every((text) => text.includes(ERIN))).toBe(true);
    await page.goBack();
    await expect.poll(async () => (await rows.allTextContents()).some((text) => text.includes(ALICE))).toBe(true);
    await filters.getByLabel("Tool").fill("no_such_tool");
    await filters.getByLabel("Tool").press("Enter");
    await page.getByText("No decision fits these filters").waitFor();

    // The whole story of the plan of one decision, at its place.
    await page.goto(`${server.url}/decisions?tool=send_payment&verdict=allow`);
    await rows
      .filter({ hasText: `approved by ${BOB}` })
      .first()
      .getByRole("link")
      .click();
    await expect.poll(() => page.url()).toMatch(/\/plans\/[\w-]+#seq-\d+$/);
    const story = page.getByRole("main");
    for (const words of [
      "Pay invoice 2026-248 from Hafen Logistics",
      "The plan was signed",
      "Held by rule",
      "Payments from 1,000 on need a second pair of eyes",
      "Approved by",
      "Matches the order",
      "The tool ran",
    ]) {
      await story.getByText(words).first().waitFor();
    }
    expect(await story.textContent()).toMatch(/amount is at most 2480/);
    await story
      .getByText(/"amount": 2480/)
      .first()
      .click();
  });

  test("is of one's own for who does not administer, and of all as plots for who does", async () => {
    const store = await openStore({ sqlite: ":memory:" });
    const week = await liveAWeek(store);
    const server = await startServer({ store, agent: week.support });
    const erin = await openAs(server, ERIN, { path: "/decisions" });
    const rows = erin.getByRole("row").filter({ has: erin.getByRole("link") });
    await rows.first().waitFor();
    expect((await rows.allTextContents()).filter((text) => !text.includes(ERIN))).toEqual([]);
    expect(await erin.getByLabel("Person").count()).toBe(0);
    await erin.goto(`${server.url}/plans/${week.approvedPlan}`);
    await erin.getByRole("heading", { level: 1 }).waitFor();
    await expect.poll(() => erin.getByRole("main").textContent()).not.toContain("Hafen");

    const root = await openAs(server, ROOT, { path: "/overview?hours=168" });
    const main = root.getByRole("main");
    await main.getByText("Calls over time").waitFor();
    await main.locator("canvas").waitFor();
    // Something is drawn, of which the table says the same.
    expect(await root.evaluate(IS_DRAWN)).toBe(true);
    expect(await main.getByRole("region", { name: "Plans that somebody should look at" }).count()).toBe(0);
    await main.getByText("The same as a table").click();
    await main.getByRole("table").waitFor();
    await main.getByRole("link", { name: "no-new-accounts" }).click();
    await expect.poll(() => new URL(root.url()).pathname).toBe("/decisions");
    await root.getByRole("link", { name: "update_account" }).first().waitFor();
  });

  test("has a place for the plans that somebody should look at", async () => {
    const store = await openStore({ sqlite: ":memory:" });
    const week = await liveAWeek(store);
    const server = await startServer({ store, agent: week.support });
    const doubts = [
      { seq: 1, problem: "<b>nothing</b> waited" },
      { seq: 2, problem: "no such token" },
    ];
    await store.plans.flag(week.approvedPlan, { kind: "audit", at: 1, doubts });
    const page = await openAs(server, ROOT, { path: "/overview?hours=168" });
    await page.getByRole("link", { name: "Flagged plans" }).click();
    const section = page.getByRole("region", { name: "Plans that somebody should look at" });
    await section.getByText(/tampered/).waitFor();
    expect(await section.textContent()).toContain("<b>nothing</b> waited, and 1 more");
    expect(await findBarriers(page)).toEqual([]);
    await section.getByRole("link", { name: "Entry 1" }).click();
    await page.getByText("Somebody should look at this plan").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/plans/${week.approvedPlan}`);

    await page.goBack();
    await section.getByRole("link", { name: /^invoice-runner for/ }).waitFor();
    await store.plans.setStatus(week.approvedPlan, "revoked", { from: ["open", "closed"], now: Date.now() });
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(() => section.count()).toBe(0);
  });
});
