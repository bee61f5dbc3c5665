import { beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import {
  addPeople,
  addPerson,
  addSession,
  aRequest,
  createContext,
  SERVER,
  type TestContext,
} from "../../../test/people.ts";
import { NOW_MS } from "../../../test/store-builders.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "../../../test/stores.ts";
import { CSRF_HEADER } from "../../core/api/index.ts";
import type { ApiAnswer, ApiRequest, Caller } from "../handler.ts";
import { hashSecret } from "../secret.ts";
import { createFirstAdmin, needsFirstAdmin } from "./first-admin.ts";
import { personHandlers } from "./handlers.ts";
import { identifyPerson } from "./session.ts";
import { nameSessionCookie } from "./session-cookie.ts";
import { createSignInLink, FIRST_LINK_MS, LINK_MS } from "./sign-in.ts";

let context: TestContext;

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  return () => context.store.close();
});

async function link(email = ALICE): Promise<string> {
  return (await createSignInLink({ ...context, actor: "cli:root" }, email)).url;
}

function tokenOf(url: string): string {
  return new URL(url).hash.slice(1);
}

function aSignIn(token: string, over: { headers?: Record<string, string>; clientAddress?: string } = {}) {
  const { headers = {}, clientAddress = "192.0.2.1" } = over;
  const request = { body: { token }, query: undefined, params: {}, caller: { kind: "none" } as Caller, requestId: "1" };
  const signal = new AbortController().signal;
  const all: ApiRequest<{ token: string }, undefined> = {
    ...request,
    clientAddress,
    headers: new Headers(headers),
    signal,
  };
  return personHandlers.signIn(all, context);
}

function cookieOf({ headers }: ApiAnswer<unknown>): string {
  return headers!["set-cookie"]!.split(";")[0]!;
}

describe("a sign-in link", () => {
  test("signs its person in, once", async () => {
    const url = await link();
    expect(url).toMatch(new RegExp(`^${SERVER}/sign-in#[\\w-]{43}$`));
    const answer = await aSignIn(tokenOf(url));
    expect(answer).toMatchObject({ status: 201, body: { email: ALICE, roles: ["member"] } });
    const request = new Request(SERVER, { headers: { cookie: cookieOf(answer) } });
    const found = await identifyPerson(request, context);
    expect(found).toMatchObject({ person: { email: ALICE }, session: { csrf: answer.body.csrf } });
    await expect(aSignIn(tokenOf(url))).rejects.toMatchObject({ code: "sign_in_link_invalid" });
  });

  test("is as good for one who is written otherwise, and for nobody who is not known", async () => {
    expect(await aSignIn(tokenOf(await link("ALICE@Acme.dev")))).toMatchObject({ body: { email: ALICE } });
    for (const email of ["nobody@acme.dev", "", "\u212aate@acme.dev"]) {
      await expect(link(email)).rejects.toMatchObject({ code: "unknown_user" });
    }
  });

  test("is for nobody who is disabled", async () => {
    const dora = { email: "dora@acme.dev", roles: [], groups: [], createdAt: NOW_MS };
    await context.store.people.upsert({ ...dora, disabledAt: NOW_MS });
    await expect(link("dora@acme.dev")).rejects.toMatchObject({ code: "unknown_user" });
  });

  test("says the same of every one that does not work", async () => {
    const used = tokenOf(await link());
    await aSignIn(used);
    const late = tokenOf(await link());
    const disabled = await (async () => {
      await addPerson(context.store, "dora@acme.dev");
      const token = tokenOf(await link("dora@acme.dev"));
      const dora = { email: "dora@acme.dev", roles: [], groups: [], createdAt: NOW_MS };
      await context.store.people.upsert({ ...dora, disabledAt: NOW_MS });
      return token;
    })();
    context.advance(LINK_MS);
    const stored = hashSecret(used);
    const answers = await Promise.allSettled(
      [used, late, disabled, stored, "", "x", "\ud800"].map((token) => aSignIn(token)),
    );
    const reasons = answers.map((answer) => (answer.status === "rejected" ? answer.reason : undefined));
    expect(reasons.map(({ code, more }) => ({ code, more }))).toEqual(
      reasons.map(() => ({ code: "sign_in_link_invalid", more: {} })),
    );
  });

  test("can be used until its time is over", async () => {
    const token = tokenOf(await link());
    context.advance(LINK_MS - 1);
    expect(await aSignIn(token)).toMatchObject({ status: 201 });
  });

  test("is on record, and is itself nowhere", async () => {
    const token = tokenOf(await link());
    const answer = await aSignIn(token);
    const audit = JSON.stringify(await context.store.adminAudit.list());
    expect(audit).toContain("sign-in-link.create");
    expect(audit).toContain("cli:root");
    const session = cookieOf(answer).split("=")[1]!;
    for (const secret of [token, session, hashSecret(token), answer.body.csrf]) {
      expect(audit).not.toContain(secret);
      expect(context.logged.join("")).not.toContain(secret);
    }
    expect(JSON.stringify(answer.body)).not.toContain(session);
  });

  test("is not made without end for one person", async () => {
    for (let count = 0; count < 20; count += 1) await link();
    await expect(link()).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 3600 });
    await expect(link("ALICE@ACME.dev")).rejects.toMatchObject({ code: "rate_limited" });
    await expect(link("carol@acme.dev")).resolves.toBeDefined();
  });
});

describe("signing in", () => {
  test("begins a session of its own, whatever the browser brings", async () => {
    const planted = await addSession(context, "carol@acme.dev");
    const headers = { cookie: `${nameSessionCookie(SERVER)}=${planted.token}` };
    const answer = await aSignIn(tokenOf(await link()), { headers });
    expect(cookieOf(answer)).not.toContain(planted.token);
    expect(await identifyPerson(aRequest(planted), context)).toBeUndefined();
    expect(answer.body.csrf).not.toBe(planted.csrf);
  });

  test("is refused to a page of another site, which uses no link up", async () => {
    const token = tokenOf(await link());
    for (const headers of [
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
      { origin: "null" },
    ]) {
      await expect(aSignIn(token, { headers })).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(await aSignIn(token, { headers: { origin: SERVER, "sec-fetch-site": "same-origin" } })).toMatchObject({
      status: 201,
    });
  });

  test("is tried in vain so often from one address, and a good link is taken all the same", async () => {
    const tries = await Promise.allSettled(Array.from({ length: 31 }, (_, index) => aSignIn(`${index}`)));
    const codes = tries.map((one) => (one.status === "rejected" ? one.reason.code : ""));
    expect(codes.filter((code) => code === "rate_limited")).toHaveLength(1);
    await expect(aSignIn("x")).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 900 });
    await expect(aSignIn("x", { clientAddress: "192.0.2.2" })).rejects.toMatchObject({ code: "sign_in_link_invalid" });
    expect(await aSignIn(tokenOf(await link()))).toMatchObject({ status: 201 });
  });

  test("ends with signing out, in this session alone", async () => {
    const [one, two] = [await addSession(context, ALICE), await addSession(context, ALICE)];
    const request = aRequest(one, { method: "DELETE" });
    const caller = { kind: "person", ...(await identifyPerson(request, context))! } as const;
    const rest = { params: {}, query: undefined, body: undefined, requestId: "1", clientAddress: "" };
    const signal = new AbortController().signal;
    const answer = await personHandlers.signOut({ ...rest, caller, headers: request.headers, signal }, context);
    expect(answer.headers?.["set-cookie"]).toMatch(/=; Path=\/; Max-Age=0;/);
    expect(await identifyPerson(aRequest(one), context)).toBeUndefined();
    expect(await identifyPerson(aRequest(two), context)).toBeDefined();
  });

  test("says who one is, with what the next request needs", async () => {
    const session = await addSession(context, ALICE);
    const request = aRequest(session, { method: "GET", headers: { [CSRF_HEADER]: "" } });
    const caller = { kind: "person", ...(await identifyPerson(request, context))! } as const;
    const rest = { params: {}, query: undefined, body: undefined, requestId: "1", clientAddress: "" };
    const signal = new AbortController().signal;
    const answer = await personHandlers.getSession({ ...rest, caller, headers: request.headers, signal }, context);
    const expected = { email: ALICE, roles: ["member"], groups: [], csrf: session.csrf, expiresAt: session.expiresAt };
    expect(answer).toEqual({ status: 200, body: expected });
  });
});

describe.each([
  ["SQLite", createSqliteDatabase] as const,
  ...(POSTGRES_URL === undefined ? [] : [["PostgreSQL", createPostgresDatabase] as const]),
])("at once, over %s", (_name, createDatabase) => {
  test("a link signs in once, and there is one first administrator", async () => {
    const database = await createDatabase();
    const contexts = await Promise.all(
      [database.open(), database.open()].map(async (store) => createContext(await store)),
    );
    const make = (index: number) =>
      createFirstAdmin({ ...contexts[index % 2]!, actor: "cli:root" }, `${index}@acme.dev`);
    const links = (await Promise.all([0, 1, 2, 3].map(make))).filter((url) => url !== undefined);
    expect(links).toHaveLength(1);
    context = contexts[0]!;
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => aSignIn(tokenOf(links[0]!))));
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await database.drop();
    context = await createContext();
  });
});

describe("the first administrator", () => {
  const actor = "cli:root";

  test("gets a link that lasts a day, and a second one gets none", async () => {
    expect(await needsFirstAdmin(context)).toBe(true);
    const url = await createFirstAdmin({ ...context, actor }, "Root@acme.dev");
    expect(await needsFirstAdmin(context)).toBe(false);
    expect(await createFirstAdmin({ ...context, actor }, "mallory@acme.dev")).toBeUndefined();
    expect(await context.store.people.get("mallory@acme.dev")).toBeUndefined();
    context.advance(FIRST_LINK_MS - 1);
    expect(await aSignIn(tokenOf(url!))).toMatchObject({ body: { email: "root@acme.dev", roles: ["admin"] } });
  });

  test("may be somebody who is known, and keeps what they had", async () => {
    await addPerson(context.store, "root@acme.dev", ["approver"]);
    await createFirstAdmin({ ...context, actor }, "root@acme.dev");
    expect(await context.store.people.get("root@acme.dev")).toMatchObject({ roles: ["approver", "admin"] });
  });

  test("has an address", async () => {
    await expect(createFirstAdmin({ ...context, actor }, "root")).rejects.toMatchObject({
      code: "ERR_INVALID_OPTIONS",
    });
    expect(await needsFirstAdmin(context)).toBe(true);
  });
});
