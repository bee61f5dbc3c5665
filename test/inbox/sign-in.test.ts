import { expect, test } from "vitest";
import { createSignInLink } from "../../src/server/people/sign-in.ts";
import { BOB } from "../store-builders.ts";
import { describeInBrowser } from "./in-browser.ts";
import { findBarriers } from "./open-page.ts";

describeInBrowser("signing in", ({ startServer, openPage, openAs }) => {
  test("by a link, once, whose token does not stay in the address", async () => {
    const server = await startServer();
    const page = await openPage();
    const link = await server.link(BOB);
    await page.goto(link);
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
    const again = await openPage();
    await again.goto(link);
    await again.getByRole("alert").getByText(/link/).first().waitFor();
    expect(again.url()).toBe(`${server.url}/sign-in`);
    expect(await again.context().cookies()).toEqual([]);
    expect(await findBarriers(again)).toEqual([]);
    // Another link in the same tab, after the one that was refused.
    await again.goto(await server.link(BOB));
    await again.getByRole("heading", { name: "Inbox" }).waitFor();
  });

  test("by a link that is too old, not at all", async () => {
    const { store, url } = await startServer();
    const context = { store, clock: () => Date.now() - 900_000, publicUrl: url, actor: "cli:test" };
    const { url: link } = await createSignInLink(context, BOB);
    const page = await openPage();
    await page.goto(link);
    await page.getByRole("alert").waitFor();
    await page.goto(url);
    await page.getByRole("heading", { name: /Sign in/ }).waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
  });

  test("leads to the hold that somebody was sent to", async () => {
    const server = await startServer();
    await server.hold({ args: { body: "first" } });
    const { holdId } = await server.hold({ args: { body: "second" } });
    const page = await openPage();
    await page.goto(`${server.url}/?hold=${holdId}`);
    await page.getByRole("heading", { name: /Sign in/ }).waitFor();
    const beside = await openPage({ beside: page.context() });
    await beside.goto(await server.link(BOB));
    await page.getByRole("region", { name: "Arguments" }).getByText("second").waitFor();
  });

  test("is over when one signs out, in every tab, and what comes after needs a new link", async () => {
    const server = await startServer();
    const page = await openAs(server, BOB);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax" });
    const beside = await openPage({ beside: page.context() });
    await beside.goto(`${server.url}/decisions`);
    await beside.getByRole("heading", { level: 1, name: "Decisions" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await beside.getByText(/Your session has ended|You are signed out/).waitFor();
    expect((await page.request.get(`${server.url}/v1/session`)).status()).toBe(401);
  });
});
