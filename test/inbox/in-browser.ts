import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { saySkipped } from "../say-skipped.ts";
import { buildInbox } from "./build-inbox.ts";
import { findChromium } from "./find-chromium.ts";
import { anInboxServer, type InboxServer, type InboxServerSetup } from "./inbox-server.ts";
import { launchBrowser, openPage, type PageSetup } from "./open-page.ts";

/** What the tests of a file share: a browser, and the page as it is built now. */
export interface Desk {
  startServer(setup?: Omit<InboxServerSetup, "inbox">): Promise<InboxServer>;
  /** A page on which nobody is signed in, in a browser profile of its own. */
  openPage(setup?: PageSetup): Promise<Page>;
  /** A page on which a person has signed in by a link. */
  openAs(server: InboxServer, email: string, setup?: PageSetup & { readonly path?: string }): Promise<Page>;
}

/** Tests in a browser. Where there is none they are skipped, and that is said. */
export function describeInBrowser(name: string, define: (desk: Desk) => void): void {
  const path = findChromium();
  if (!path) saySkipped(`${name}, in a browser`, "There is no Chromium; Debian has it as chromium.");
  describe.skipIf(!path)(name, { timeout: 180_000 }, () => {
    let browser: Browser;
    let inbox: URL;
    beforeAll(async () => {
      [browser, inbox] = await Promise.all([launchBrowser(path!), buildInbox()]);
    });
    afterAll(() => browser?.close());
    const open = (setup?: PageSetup): Promise<Page> => openPage(browser, setup);
    define({
      startServer: (setup) => anInboxServer({ ...setup, inbox }),
      openPage: open,
      openAs: async (server, email, { path = "/", ...setup } = {}) => {
        const page = await open(setup);
        await page.goto(await server.link(email));
        await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
        if (path !== "/") await page.goto(`${server.url}${path}`);
        return page;
      },
    });
  });
}
