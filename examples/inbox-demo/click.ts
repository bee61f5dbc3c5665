/** What a person does in the inbox, done by a browser that nobody sees. */
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** A browser of this machine: `CHROMIUM_PATH`, or where it usually is. */
export function findChromium(): string | undefined {
  return [process.env["CHROMIUM_PATH"] ?? "", ...PATHS].find((path) => path !== "" && existsSync(path));
}

/** Signs in with the link, reads what is asked, and approves it. */
export async function approveInBrowser(executablePath: string, link: string): Promise<void> {
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage();
    await page.goto(link);
    const hold = page.getByRole("article", { name: "The hold" });
    const [title, task] = [hold.getByRole("heading").first(), hold.getByText(/^Refund order/).first()];
    console.log(`  in the browser: ${await title.textContent()}, for the task "${await task.textContent()}"`);
    await hold.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog", { name: "Approve this call?" });
    await dialog.getByLabel("Comment").fill("The invoice says so, too");
    await dialog.getByRole("button", { name: "Approve" }).click();
    await dialog.waitFor({ state: "hidden" });
    console.log("  in the browser: approved\n");
  } finally {
    await browser.close();
  }
}
