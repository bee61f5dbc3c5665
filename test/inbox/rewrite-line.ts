import type { Page } from "playwright-core";

/** In an editor, writes a text in place of the last characters of the first line that has these words. */
export async function rewriteLine(page: Page, words: string, count: number, text: string): Promise<void> {
  await page.locator(".cm-line").filter({ hasText: words }).first().click();
  await page.keyboard.press("End");
  for (let key = 0; key < count; key += 1) await page.keyboard.press("Backspace");
  await page.keyboard.insertText(text);
}
