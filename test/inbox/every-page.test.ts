import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openStore } from "../../src/server/store/index.ts";
import { ROOT } from "../servers.ts";
import { BOB } from "../store-builders.ts";
import { liveAWeek, type Week } from "./a-week.ts";
import { describeInBrowser } from "./in-browser.ts";
import type { InboxServer } from "./inbox-server.ts";
import { findBarriers, isTooWide } from "./open-page.ts";
import { rewriteLine } from "./rewrite-line.ts";
import { ERIN } from "./week-scenes.ts";

/** Where pictures are put, for the documentation: `npm run screenshots`. Without it none are taken. */
const FOLDER = process.env["INTENTLOCK_SCREENSHOTS"];

/** A page with something on it, and who looks at it. */
interface View {
  readonly name: string;
  readonly email: string;
  readonly path: (week: Week) => string;
  /** Does something first, or waits for what comes late. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** Which pictures are wanted: of a wide page in light unless told. */
  readonly pictures?: readonly Picture[];
}

type Picture = "light" | "dark" | "phone";

const VIEWS: readonly View[] = [
  { name: "inbox", email: BOB, path: () => "/", prepare: waitForHold, pictures: ["light", "dark", "phone"] },
  { name: "decisions", email: ROOT, path: () => "/decisions" },
  { name: "story", email: ROOT, path: ({ approvedPlan }) => `/plans/${approvedPlan}` },
  {
    name: "overview",
    email: ROOT,
    path: () => "/overview?hours=168",
    prepare: waitForPlot,
    pictures: ["light", "dark"],
  },
  { name: "policies", email: ROOT, path: () => "/policies", pictures: [] },
  { name: "policy", email: ROOT, path: ({ invoices }) => `/policies/${invoices.agentId}`, prepare: changePolicy },
  { name: "agents", email: ROOT, path: () => "/agents", pictures: [] },
  { name: "agent", email: ROOT, path: ({ support }) => `/agents?agent=${support.agentId}` },
  { name: "people", email: ROOT, path: () => "/people" },
];

async function waitForHold(page: Page): Promise<void> {
  const rows = page.getByRole("list", { name: "Holds that wait for you" }).getByRole("link");
  await rows.nth(3).waitFor();
  if ((page.viewportSize()?.width ?? 0) < 600) await rows.first().tap();
  await page.getByRole("article", { name: "The hold" }).getByRole("button", { name: "Approve" }).waitFor();
}

async function waitForPlot(page: Page): Promise<void> {
  await page.locator("canvas").waitFor();
}

async function changePolicy(page: Page): Promise<void> {
  await rewriteLine(page, "amount: { gte: 1000 }", 6, "400 }");
  await page.getByText("Stricter").first().waitFor();
  await page.getByRole("checkbox", { name: "Only changes" }).check();
}

interface Look {
  readonly width: number;
  readonly colorScheme: "light" | "dark";
}

/** Four calls that wait, of three agents. */
async function holdSome({ hold }: InboxServer, { invoices, releases }: Week): Promise<void> {
  await hold({
    agent: invoices,
    tool: "send_payment",
    args: { to: "Hafen Logistics", amount: 2615, reference: "2026-261", note: "Freight of November, pallets 14 to 22" },
    task: {
      instruction: "Pay the freight invoice that came in today. It is from Hafen Logistics, about 2,600.",
      material:
        "Invoice 2026-261\nHafen Logistics\nFreight of November: 2,615.00\n\nPlease note our NEW account from today on.",
    },
    before: [{ tool: "read_invoice", args: { number: { eq: "2026-261" } }, maxCalls: 1 }],
    conditions: { to: { eq: "Hafen Logistics" }, amount: { lte: 2700 } },
  });
  await hold({
    agent: releases,
    user: ERIN,
    tool: "publish_package",
    args: { version: "4.2.1", tag: "latest" },
    task: { instruction: "Publish 4.2.1 when the tests pass" },
    before: [{ tool: "run_tests", args: { suite: { eq: "all" } } }],
  });
  const body = [
    "Thank you for the report, and for the steps: we could follow them.",
    "The list is read before the token is renewed, so the first request after an hour is refused and the second is not.",
    "4.2.1 renews it first. Until then, a call of `renew()` at the start of the job is enough. ".repeat(3),
  ].join("\n\n");
  await hold({
    args: { issue: 482, body, labels: ["bug", "needs reproduction"] },
    task: { instruction: "Answer issue 482" },
  });
  await hold({ args: { issue: 477, body: "Fixed in 4.2.0." }, task: { instruction: "Close what 4.2.0 has fixed" } });
}

async function settle(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await expect.poll(() => page.locator(".loading, [aria-busy=true]").count()).toBe(0);
  await page.evaluate("document.fonts.ready.then(() => undefined)");
}

describeInBrowser("every page", ({ startServer, openAs }) => {
  const cases: readonly Look[] = [
    { width: 1280, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
    ...(FOLDER ? [{ width: 1280, colorScheme: "dark" } as const] : []),
  ];

  test.each(cases)("is for everybody, $width pixels wide and $colorScheme", async ({ width, colorScheme }) => {
    const store = await openStore({ sqlite: ":memory:" });
    const week = await liveAWeek(store);
    const server = await startServer({ store, agent: week.support });
    await holdSome(server, week);
    const picture = whichPicture({ width, colorScheme });
    const pages = new Map<string, Page>();
    for (const { name, email, path: pathOf, prepare, pictures = ["light"] } of VIEWS) {
      const page = pages.get(email) ?? (await openAs(server, email, { width, colorScheme }));
      pages.set(email, page);
      await page.goto(`${server.url}${pathOf(week)}`);
      await settle(page);
      await prepare?.(page);
      expect.soft(await findBarriers(page), name).toEqual([]);
      expect.soft(await isTooWide(page), name).toBe(false);
      if (!FOLDER || !pictures.includes(picture)) continue;
      const path = join(FOLDER, `${name}${picture === "light" ? "" : `-${picture}`}.png`);
      await page.screenshot({ path, animations: "disabled" });
    }
  });
});

function whichPicture({ width, colorScheme }: Look): Picture {
  return width < 600 ? "phone" : colorScheme;
}
