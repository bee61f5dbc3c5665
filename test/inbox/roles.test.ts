import { expect, test } from "vitest";
import { ALICE } from "../builders.ts";
import { ROOT } from "../servers.ts";
import { BOB } from "../store-builders.ts";
import { describeInBrowser } from "./in-browser.ts";

const ALL = ["Inbox", "Decisions", "Overview", "Policies", "Agents", "People"];

describeInBrowser("roles", ({ startServer, openAs }) => {
  test.each([
    { role: "a member", email: ALICE, places: ["Inbox", "Decisions"] },
    { role: "an approver", email: BOB, places: ["Inbox", "Decisions"] },
    { role: "an administrator", email: ROOT, places: ALL },
  ])("$role is shown what they may do, and refused the rest by the server", async ({ email, places }) => {
    const server = await startServer();
    const { agentId } = server.agent;
    const { holdId, plan } = await server.hold();
    const page = await openAs(server, email);
    const navigation = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    expect((await navigation.allTextContents()).map((name) => name.replace(/\d.*/, ""))).toEqual(places);

    const isAdmin = email === ROOT;
    for (const path of ["/overview", "/policies", `/policies/${agentId}`, "/agents", "/people"]) {
      await page.goto(`${server.url}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await page.getByText("This page is for administrators").count(), path).toBe(isAdmin ? 0 : 1);
    }

    // What a page does not show, its person may still ask for: with their cookie and the token of their session.
    const { csrf } = await (await page.request.get(`${server.url}/v1/session`)).json();
    const ask = async (method: string, path: string, data?: object): Promise<number> => {
      const headers = { "x-intentlock-csrf": csrf };
      return (await page.request.fetch(`${server.url}${path}`, { method, headers, ...(data && { data }) })).status();
    };
    const refused = isAdmin ? 200 : 403;
    for (const path of ["/v1/overview", "/v1/agents", "/v1/people", "/v1/admin-audit", `/v1/agents/${agentId}/keys`]) {
      expect(await ask("GET", path), path).toBe(refused);
    }
    expect(await ask("PUT", `/v1/people/${email}`, { roles: ["admin", "approver"], groups: [] })).toBe(refused);
    // Alice asked for it herself, and the administrator owns the key: only Bob is somebody else.
    const status = { [ALICE]: 403, [BOB]: 200, [ROOT]: 403 }[email];
    expect(await ask("POST", `/v1/holds/${holdId}/decision`, { decision: "approve" })).toBe(status);
    // The story is for her for whom it was, for who decided, and for administrators.
    await page.goto(`${server.url}/plans/${plan.planId}`);
    await page.getByText("post_comment").first().waitFor();
  });

  test("what a person may do goes with their role, at once", async () => {
    const server = await startServer();
    await server.hold();
    const page = await openAs(server, BOB);
    await page.getByRole("article", { name: "The hold" }).getByRole("button", { name: "Approve" }).click();
    await server.store.people.upsert({ email: BOB, roles: ["member"], groups: [], createdAt: 0, disabledAt: null });
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").getByText("The rule does not name you, or not any more").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    // Nobody of that name any more: the session is over, too.
    await server.store.people.upsert({ email: BOB, roles: [], groups: [], createdAt: 0, disabledAt: Date.now() });
    await page.getByRole("link", { name: "Decisions" }).click();
    await page.getByText("Your session has ended").waitFor();
  });
});
