import { afterEach, describe, expect, test } from "vitest";
import { aServerWithBrowsers, type ServerWithBrowsers } from "../../../test/browsers.ts";
import { ALICE } from "../../../test/builders.ts";
import { aHoldPolicy, ROOT, type ServerSetup } from "../../../test/servers.ts";
import { BOB } from "../../../test/store-builders.ts";
import { type AnyEndpoint, CSRF_HEADER, endpoints, fillPath, listParameters } from "../../core/api/index.ts";

const open: ServerWithBrowsers[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(setup: ServerSetup = {}): Promise<ServerWithBrowsers> {
  const one = await aServerWithBrowsers(setup);
  open.push(one);
  return one;
}

describe("over the server's routes", () => {
  test("an approver signs in, sees the hold, approves it, and the agent that waits has it", async () => {
    const one = await start();
    const holdId = await one.hold();
    const bob = await one.signIn(BOB);
    expect((await bob.ask("GET", "/v1/session")).body).toMatchObject({ email: BOB, csrf: bob.csrf });
    const inbox = (await bob.ask("GET", "/v1/inbox")).body.holds;
    expect(inbox).toMatchObject([{ holdId, tool: "post_comment", args: { issue: 7 }, user: ALICE }]);
    const waiting = one.ask("GET", `/v1/holds/${holdId}?waitSeconds=60`);
    const decided = await bob.ask("POST", `/v1/holds/${holdId}/decision`, { decision: "approve", comment: "fine" });
    expect(decided).toMatchObject({ status: 200, body: { holdId, status: "approved" } });
    const { body } = await waiting;
    expect(body).toMatchObject({ status: "approved", approvedBy: BOB, comment: "fine" });
    const claimed = await one.ask("POST", `/v1/holds/${holdId}/claim`, { body: { approval: body.approval } });
    expect(claimed.body).toEqual({ claimed: true });
    expect((await bob.ask("GET", "/v1/inbox")).body.holds).toEqual([]);
    expect((await bob.ask("GET", "/v1/inbox?status=approved")).body.holds).toMatchObject([{ holdId, decidedBy: BOB }]);
    expect((await bob.ask("DELETE", "/v1/session")).status).toBe(200);
    expect((await bob.ask("GET", "/v1/session")).body.code).toBe("sign_in_required");

    const logged = one.logged.join("");
    expect(logged).toContain(BOB);
    const secrets = [bob.csrf, bob.cookie.split("=")[1]!, one.agent.apiKey, body.approval, "argument-of-a-call"];
    for (const secret of secrets) expect(logged).not.toContain(secret);
  });

  test.each<[string, string, Record<string, string>, string]>([
    ["without the session's token", BOB, { [CSRF_HEADER]: "" }, "forbidden"],
    ["with another token", BOB, { [CSRF_HEADER]: "x".repeat(43) }, "forbidden"],
    ["from another site", BOB, { origin: "https://evil.example" }, "forbidden"],
    ["from another site, by the browser", BOB, { "sec-fetch-site": "cross-site" }, "forbidden"],
    ["without the cookie", BOB, { cookie: "" }, "sign_in_required"],
    ["as a form", BOB, { "content-type": "application/x-www-form-urlencoded" }, "unsupported_media_type"],
    ["by whom the agent acts for", ALICE, {}, "self_approval"],
    ["by an administrator", ROOT, {}, "not_an_approver"],
  ])("nothing is decided %s", async (_name, email, headers, code) => {
    const one = await start({ people: { [ALICE]: { roles: ["approver"] } } });
    const holdId = await one.hold();
    const browser = await one.signIn(email);
    const answer = await browser.ask("POST", `/v1/holds/${holdId}/decision`, { decision: "approve" }, headers);
    expect(answer.body.code).toBe(code);
    expect((await one.store.holds.get(holdId))?.status).toBe("pending");
  });

  test("no field of a request says who decides", async () => {
    const one = await start();
    const holdId = await one.hold();
    const alice = await one.signIn(ALICE);
    for (const field of ["person", "email", "approvedBy", "by", "user", "__proto__"]) {
      const body = `{"decision":"approve","${field}":"${BOB}"}`;
      const answer = await alice.ask("POST", `/v1/holds/${holdId}/decision`, body);
      expect([field, answer.body.code]).toEqual([field, "invalid_request"]);
    }
  });

  test("the key's owner decides nothing, and an agent's key neither", async () => {
    const one = await start({ owner: BOB });
    const holdId = await one.hold();
    const path = `/v1/holds/${holdId}/decision`;
    const bob = await one.signIn(BOB);
    expect((await bob.ask("POST", path, { decision: "approve" })).body.code).toBe("key_owner_approval");
    const asAgent = await one.ask("POST", path, { body: { decision: "approve" } });
    expect(asAgent.body.code).toBe("sign_in_required");
  });

  const administrative = Object.entries(endpoints as Record<string, AnyEndpoint>).filter(
    ([, { auth }]) => auth.includes("admin") && !auth.includes("agent"),
  );
  test.each(administrative)("%s is for administrators alone", async (_name, { method, path }) => {
    const one = await start();
    const names = Object.fromEntries(listParameters(path).map((name) => [name, name === "email" ? ALICE : "1"]));
    const url = fillPath(path, names);
    const body = method === "GET" || method === "DELETE" ? undefined : {};
    for (const email of [ALICE, BOB]) {
      const answer = await (await one.signIn(email)).ask(method, url, body);
      expect(answer).toMatchObject({ status: 403, body: { code: "forbidden" } });
    }
    expect((await one.ask(method, url, { ...(body && { body }) })).status).toBe(401);
    const root = await one.signIn(ROOT);
    const unsafe = method !== "GET";
    const forged = await root.ask(method, url, body, { [CSRF_HEADER]: "x" });
    expect(forged.body?.code === "forbidden").toBe(unsafe);
    expect((await root.ask(method, url, body)).status).not.toBe(403);
  });

  test("an administrator makes an agent that works, and takes its key away", async () => {
    const one = await start();
    const root = await one.signIn(ROOT);
    const { agentId } = (await root.ask("POST", "/v1/agents", { name: "Triage" })).body;
    const text = JSON.stringify(aHoldPolicy());
    expect((await root.ask("POST", `/v1/agents/${agentId}/policies`, { text })).status).toBe(201);
    const { key, keyId } = (await root.ask("POST", `/v1/agents/${agentId}/keys`, { owner: ROOT })).body;
    const body = { text: "version: 1" };
    const asNew = () => one.ask("POST", "/v1/policies/validate", { body, apiKey: key });
    expect((await asNew()).status).toBe(200);
    expect((await root.ask("POST", `/v1/keys/${keyId}/revoke`)).body.revokedAt).toBeDefined();
    expect((await asNew()).body.code).toBe("api_key_rejected");
    const logged = one.logged.join("");
    expect(logged).not.toContain(key);
    expect(logged).not.toContain(key.slice(8));
  });

  test("a person who loses a role or is removed loses it with their next request", async () => {
    const one = await start({ people: { "second@acme.dev": { roles: ["admin"] } } });
    const [root, second] = [await one.signIn(ROOT), await one.signIn("second@acme.dev")];
    expect((await second.ask("GET", "/v1/agents")).status).toBe(200);
    await root.ask("PUT", "/v1/people/second%40acme.dev", { roles: ["member"], groups: [] });
    expect((await second.ask("GET", "/v1/agents")).body.code).toBe("forbidden");
    expect((await second.ask("GET", "/v1/session")).status).toBe(200);
    await root.ask("DELETE", "/v1/people/SECOND%40acme.dev");
    expect((await second.ask("GET", "/v1/session")).body.code).toBe("sign_in_required");
    expect((await root.ask("DELETE", `/v1/people/${encodeURIComponent(ROOT)}`)).body.code).toBe("last_admin");
  });

  test("an administrator revokes a plan, on record, and its holds cannot be decided", async () => {
    const one = await start();
    const holdId = await one.hold();
    const planId = (await one.store.holds.get(holdId))!.planId;
    const root = await one.signIn(ROOT);
    const answer = await root.ask("POST", `/v1/plans/${planId}/revoke`, { reason: "wrong person" });
    expect(answer).toMatchObject({ status: 200, body: { status: "revoked", reason: "wrong person" } });
    const [entry] = await one.store.adminAudit.list({ limit: 1 });
    expect(entry).toMatchObject({
      action: "plan.revoke",
      actor: ROOT,
      target: planId,
      details: { reason: "wrong person" },
    });
    const bob = await one.signIn(BOB);
    const late = await bob.ask("POST", `/v1/holds/${holdId}/decision`, { decision: "approve" });
    expect(late.body.code).toBe("hold_not_pending");
    expect((await root.ask("POST", "/v1/plans/none/revoke", {})).body.code).toBe("not_found");
    expect((await bob.ask("POST", `/v1/plans/${planId}/revoke`, {})).body.code).toBe("forbidden");
  });

  test("a plan waits for a person and is signed once it is approved", async () => {
    const one = await start({ settings: { approvePlans: true } });
    const body = {
      user: ALICE,
      task: { instruction: "Comment" },
      plan: { goal: "Comment", steps: [{ tool: "post_comment" }] },
    };
    const tools = { post_comment: `sha256:${"a".repeat(64)}` };
    const { planId, holdId } = (await one.ask("POST", "/v1/plans", { body: { ...body, tools } })).body;
    const refresh = () => one.ask("POST", `/v1/plans/${planId}/refresh`);
    expect((await refresh()).body.code).toBe("plan_pending");
    const bob = await one.signIn(BOB);
    const [item] = (await bob.ask("GET", "/v1/inbox")).body.holds;
    expect(item).toMatchObject({ holdId, kind: "plan", plan: { goal: "Comment" }, task: { instruction: "Comment" } });
    await bob.ask("POST", `/v1/holds/${holdId}/decision`, { decision: "approve" });
    expect((await refresh()).status).toBe(201);
  });

  test("an administrator makes a sign-in link, and the record shows whose it was", async () => {
    const one = await start();
    const root = await one.signIn(ROOT);
    const made = await root.ask("POST", "/v1/people/BOB%40acme.dev/sign-in-link");
    expect(made).toMatchObject({ status: 201, body: { url: expect.stringContaining("/sign-in#") } });
    expect(made.body.expiresAt).toBe(one.clock.now() + 900_000);
    const [created] = await one.store.adminAudit.list({ limit: 1 });
    expect(created).toMatchObject({ actor: ROOT, action: "sign-in-link.create", target: BOB });

    const bob = await one.signIn(BOB, made.body.url);
    const holdId = await one.hold();
    expect((await bob.ask("POST", `/v1/holds/${holdId}/decision`, { decision: "approve" })).status).toBe(200);
    const [approved] = await one.store.adminAudit.list({ limit: 1 });
    expect(approved).toMatchObject({ actor: BOB, action: "hold.approve", details: { linkBy: ROOT } });
    expect(one.logged.join("")).not.toContain(made.body.url.split("#")[1]);

    const unknown = await root.ask("POST", "/v1/people/nobody%40acme.dev/sign-in-link");
    expect(unknown.body.code).toBe("unknown_user");
  });

  test("sessions and links that have ended are forgotten", async () => {
    const one = await start();
    await one.signIn(BOB);
    const row = { email: BOB, createdBy: ROOT, createdAt: one.clock.now(), expiresAt: one.clock.now() + 1 };
    await one.store.signIn.addLink({ ...row, hash: "link" });
    const times = { createdAt: row.createdAt, lastSeenAt: row.createdAt, expiresAt: row.expiresAt };
    await one.store.signIn.addSession({ hash: "session", email: BOB, csrf: "csrf", linkBy: ROOT, ...times });
    one.clock.advance(1);
    await one.server.sweep();
    // As if it were still the time at which they were good.
    expect(await one.store.signIn.findSession("session", row.createdAt)).toBeUndefined();
    expect(await one.store.signIn.useLink("link", row.createdAt)).toBeUndefined();
    expect((await (await one.signIn(BOB)).ask("GET", "/v1/session")).status).toBe(200);
  });
});
