import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BOB } from "../store-builders.ts";
import { buildInbox } from "./build-inbox.ts";
import { findChromium } from "./find-chromium.ts";
import { anInboxServer } from "./inbox-server.ts";
import { findBarriers, launchBrowser, openPage } from "./open-page.ts";

const path = findChromium();
if (!path) console.warn("The tests in a browser were skipped: there is no Chromium. Debian's package is chromium.");

describe.skipIf(!path)("signing in", () => {
  let browser: Browser;
  let inbox: URL;

  beforeAll(async () => {
    [browser, inbox] = [await launchBrowser(path!), await buildInbox()];
  });
  afterAll(() => browser?.close());

  test("by a link, once, whose token does not stay in the address", async () => {
    const server = await anInboxServer({ inbox });
    const page = await openPage(browser);
    const link = await server.link(BOB);
    await page.goto(link);
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
    const again = await openPage(browser);
    await again.goto(link);
    await again.getByRole("alert").waitFor();
    expect(await findBarriers(again)).toEqual([]);
  });
});
