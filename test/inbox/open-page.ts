import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";

export interface PageSetup {
  /** 1280 unless told; the height goes with it. A narrow one is a phone's, to be touched. */
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
  /** Another page of the same browser profile: with its cookies. */
  readonly beside?: BrowserContext;
}

/** A browser for a test file. What it may load is what the server answers: it has no way to any other host. */
export async function launchBrowser(executablePath: string): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    args: [
      // Tests run as root in containers, whose /dev/shm is small.
      "--no-sandbox",
      "--disable-dev-shm-usage",
      "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ],
  });
}

/**
 * A page whose every error, refusal of the security policy, warning of the console and request to another host fails the
 * test at its end.
 */
export async function openPage(browser: Browser, setup: PageSetup = {}): Promise<Page> {
  const { width = 1280, colorScheme = "light" } = setup;
  const isPhone = width < 600;
  const viewport = { width, height: isPhone ? 844 : 800 };
  const device = { viewport, colorScheme, isMobile: isPhone, hasTouch: isPhone, reducedMotion: "reduce" } as const;
  const context = setup.beside ?? (await browser.newContext(device));
  if (!setup.beside) onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // Refusals of the API that a test brings about are told by the browser, too.
    const isAnswer = /Failed to load resource: the server responded with a status of 4\d\d/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isAnswer) troubles.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") troubles.push(`leaves: ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    // A page may ask whether one wants to leave what was written.
    if (dialog.type() === "beforeunload") return void dialog.accept();
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // As one text: a failure says it whole.
  onTestFinished(() => expect(troubles.join("\n")).toBe(""));
  return page;
}

/** Whether one has to scroll sideways to see all of a page, or a phone would show it smaller. */
export async function isTooWide(page: Page): Promise<boolean> {
  // Not `innerWidth`: on a phone that grows with what is too wide.
  return await page.evaluate("document.scrollingElement.scrollWidth > document.documentElement.clientWidth");
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious and critical findings of axe-core, each with where it is. */
export async function findBarriers(page: Page): Promise<string[]> {
  // Evaluated from outside: the page's security policy would refuse a script element.
  await page.evaluate(axe);
  return await page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as { axe: { run: (options: object) => Promise<{ violations: AxeViolation[] }> } }
    ).axe.run({ resultTypes: ["violations"], preload: false });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id} (${help}) at ${target.join(" ")}`));
  });
}

interface AxeViolation {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}
