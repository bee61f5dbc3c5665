import { expect, test } from "vitest";
import { HttpGate } from "../../src/gates/http.ts";
import { ROOT } from "../servers.ts";
import { describeInBrowser } from "./in-browser.ts";
import { findBarriers } from "./open-page.ts";

const DANA = "dana@acme.dev";

describeInBrowser("administration", ({ startServer, openPage, openAs }) => {
  test("an agent gets a key that is shown once, works, and is revoked", async () => {
    const server = await startServer();
    const page = await openAs(server, ROOT, { path: "/agents" });
    await page.getByRole("button", { name: "Make an agent" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("triage");
    await dialog.getByRole("button", { name: "Make the agent" }).click();
    await dialog.getByText("Another agent has this name").waitFor();
    await dialog.getByLabel("Name").fill("night shift");
    await dialog.getByRole("button", { name: "Make the agent" }).click();
    await page.getByRole("heading", { level: 1, name: "night shift" }).waitFor();
    await page.getByText("It has no key yet").waitFor();

    await page.getByRole("button", { name: "Make a key" }).click();
    await dialog.getByLabel("Name").fill("staging");
    await dialog.getByRole("button", { name: "Make the key" }).click();
    const shown = await dialog.getByText(/^ilk_[\w-]{20,}$/).textContent();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    const row = page.getByRole("row").filter({ hasText: "staging" });
    await row.waitFor();
    expect(await page.content()).not.toContain(shown);
    await page.reload();
    await row.getByText("never").waitFor();
    expect(await page.content()).not.toContain(shown);

    const gate = new HttpGate({ baseUrl: server.url, apiKey: shown! });
    const sign = (): Promise<unknown> =>
      gate.sign({ user: ROOT, task: { instruction: "Look" }, plan: { goal: "Look", steps: [] }, tools: {} });
    // Known, and without a policy.
    await expect(sign()).rejects.toThrow(/policy/);
    await row.getByRole("button", { name: "Revoke the key staging" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await row.getByText("Revoked").waitFor();
    await expect(sign()).rejects.toThrow(/key/);
    await gate.close();
  });

  test("a person is added, signs in by the link that was made, and loses what is taken from them", async () => {
    const server = await startServer();
    const page = await openAs(server, ROOT, { path: "/people" });
    const dialog = page.getByRole("dialog");
    const row = page.getByRole("row").filter({ hasText: DANA });
    await page.getByRole("button", { name: "Add a person" }).click();
    const email = dialog.getByLabel("E-mail address");
    await email.fill("dana");
    await dialog.getByRole("button", { name: "Add" }).click();
    await expect.poll(() => email.getAttribute("aria-invalid")).toBe("true");
    expect(await findBarriers(page)).toEqual([]);
    await email.fill("Dana@ACME.dev");
    await dialog.getByRole("checkbox", { name: /^Administrator/ }).check();
    await dialog.getByRole("button", { name: "Add" }).click();
    await row.getByText("Administrator").waitFor();

    await row.getByRole("button", { name: `Sign-in link for ${DANA}` }).click();
    await dialog.getByRole("button", { name: "Make the link" }).click();
    const link = await dialog.getByText(/\/sign-in#/).textContent();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(await page.content()).not.toContain(link);
    await page.getByText(`made a sign-in link for ${DANA}`).waitFor();

    // In a browser of her own.
    const dana = await openPage();
    await dana.goto(link!);
    await dana.getByRole("link", { name: "People" }).click();
    await dana.getByRole("row").filter({ hasText: ROOT }).waitFor();

    await row.getByRole("button", { name: `Change ${DANA}` }).click();
    await dialog.getByRole("checkbox", { name: /^Administrator/ }).uncheck();
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => row.getByText("Administrator").count()).toBe(0);
    expect((await dana.request.get(`${server.url}/v1/people`)).status()).toBe(403);
    await row.getByRole("button", { name: `Remove ${DANA}` }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
    expect((await dana.request.get(`${server.url}/v1/session`)).status()).toBe(401);

    // Nobody locks everybody out.
    await page.getByRole("button", { name: `Remove ${ROOT}` }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await dialog.getByText("This is the only administrator").waitFor();
  });
});
