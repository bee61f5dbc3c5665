import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { BACKGROUND_HEADER } from "../../src/core/api/index.ts";
import { BOB } from "../store-builders.ts";
import { describeInBrowser } from "./in-browser.ts";

const STREAM = "/v1/inbox/events";

async function showsHolds(page: Page, count: number): Promise<void> {
  const rows = page.getByRole("list", { name: "Holds that wait for you" }).getByRole("link");
  await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(count);
}

describeInBrowser("what is live", ({ startServer, openPage, openAs }) => {
  test("comes to every tab over one stream, and goes on when the tab that has it is closed", async () => {
    const server = await startServer();
    const first = await openAs(server, BOB);
    const streams = new Set<object>();
    const context = first.context();
    context.on("request", (request) => request.url().endsWith(STREAM) && streams.add(request));
    context.on("requestfailed", (request) => streams.delete(request));
    context.on("requestfinished", (request) => streams.delete(request));
    // More than a browser has connections to one host over HTTP/1.1.
    const tabs = [first];
    while (tabs.length < 8) {
      const tab = await openPage({ beside: context });
      await tab.goto(server.url);
      tabs.push(tab);
    }
    await server.hold();
    for (const tab of tabs) await showsHolds(tab, 1);
    await expect.poll(() => streams.size).toBe(1);

    await tabs.pop()!.close();
    await server.hold();
    for (const tab of tabs) await showsHolds(tab, 2);
  });

  test("is told as broken while it is, and comes back by itself", async () => {
    const server = await startServer();
    const page = await openAs(server, BOB);
    await page.getByText("Live", { exact: true }).waitFor();
    // As a server answers that has too many streams of this person: a browser does not try again by itself.
    let isFull = true;
    await page.route(`**${STREAM}`, (route) => (isFull ? route.fulfill({ status: 429 }) : route.continue()));
    await page.reload();
    await page.getByText("Connecting again…").waitFor();
    await server.hold();
    isFull = false;
    await showsHolds(page, 1);
    await page.getByText("Live", { exact: true }).waitFor();
  });

  test("is asked for by the page itself once nobody is there, which is no use of the session", async () => {
    const server = await startServer();
    const page = await openAs(server, BOB);
    const asked: (readonly [path: string, byItself: boolean])[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/v1/")) asked.push([pathname, BACKGROUND_HEADER in request.headers()]);
    });
    await page.getByText("Live", { exact: true }).waitFor();
    await page.clock.setFixedTime(Date.now() + 60_000);
    asked.length = 0;
    const { holdId } = await server.hold();
    await showsHolds(page, 1);
    // Its tab comes to the front.
    await page.evaluate('dispatchEvent(new Event("focus"))');
    await expect.poll(() => asked).toContainEqual(["/v1/session", true]);
    expect(asked).toContainEqual([`/v1/inbox/${holdId}`, true]);
    expect(asked.filter(([, byItself]) => !byItself)).toEqual([]);

    await page.getByRole("link", { name: "Decisions" }).click();
    await expect.poll(() => asked).toContainEqual(["/v1/decisions", false]);
  });
});
