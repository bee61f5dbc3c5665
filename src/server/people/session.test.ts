import { beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import {
  addPeople,
  addSession,
  aRequest,
  CAROL,
  createContext,
  SERVER,
  type TestContext,
} from "../../../test/people.ts";
import { NOW_MS } from "../../../test/store-builders.ts";
import { BACKGROUND_HEADER, CSRF_HEADER, SESSION_COOKIE } from "../../core/api/index.ts";
import { createSecret } from "../secret.ts";
import { identifyPerson, SESSION_IDLE_MS, SESSION_MAX_MS } from "./session.ts";
import { nameSessionCookie, readSessionCookie, writeSessionCookie } from "./session-cookie.ts";

const COOKIE = nameSessionCookie(SERVER);
let context: TestContext;

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  return () => context.store.close();
});

describe("who is signed in", () => {
  test("is whose session the cookie has", async () => {
    const session = await addSession(context, ALICE);
    await addSession(context, CAROL);
    const found = await identifyPerson(aRequest(session, { method: "GET" }), context);
    expect(found?.person.email).toBe(ALICE);
    expect(found?.session.csrf).toBe(session.csrf);
  });

  test.each<[string, (token: string) => string | undefined]>([
    ["no cookie", () => undefined],
    ["another token", () => `${COOKIE}=${createSecret()}`],
    ["an empty token", () => `${COOKIE}=`],
    ["a token that is none", () => `${COOKIE}=' OR 1=1 --`],
    ["more after the token", (token) => `${COOKIE}=${token}x`],
    ["a cookie of another name", (token) => `x${COOKIE}=${token}; ${COOKIE}2=${token}`],
    ["the name in other letters", (token) => `${COOKIE.toUpperCase()}=${token}`],
    ["a second cookie, that a neighbouring host has set", (token) => `${COOKIE}=${createSecret()}; ${COOKIE}=${token}`],
    ["the name that it has without TLS", (token) => `${SESSION_COOKIE}=${token}`],
    ["the same one twice", (token) => `${COOKIE}=${token}; ${COOKIE}=${token}`],
  ])("is nobody with %s", async (_name, cookieOf) => {
    const session = await addSession(context, ALICE);
    const cookie = cookieOf(session.token);
    const request = new Request(SERVER, { headers: { ...(cookie !== undefined && { cookie }) } });
    expect(await identifyPerson(request, context)).toBeUndefined();
  });

  test("is nobody with what the store has in place of the token", async () => {
    const session = await addSession(context, ALICE);
    expect(await identifyPerson(aRequest({ ...session, token: session.hash }), context)).toBeUndefined();
  });

  test("is found among other cookies", async () => {
    const session = await addSession(context, ALICE);
    const cookie = `a=b; ${COOKIE}=${session.token} ;c=d`;
    const found = await identifyPerson(new Request(SERVER, { headers: { cookie } }), context);
    expect(found?.person.email).toBe(ALICE);
  });

  test("ends with the person, at once", async () => {
    const session = await addSession(context, ALICE);
    const request = aRequest(session);
    await context.store.people.upsert({ email: ALICE, roles: [], groups: [], createdAt: 0, disabledAt: NOW_MS });
    expect(await identifyPerson(request, context)).toBeUndefined();
    await context.store.people.upsert({ email: ALICE, roles: [], groups: [], createdAt: 0, disabledAt: null });
    expect(await identifyPerson(request, context)).toBeDefined();
    await context.store.people.remove(ALICE);
    expect(await identifyPerson(request, context)).toBeUndefined();
    await addPeople(context.store);
    expect(await identifyPerson(request, context)).toBeUndefined();
  });
});

describe("a session", () => {
  test("goes on while it is used, and ends when it is not", async () => {
    const session = await addSession(context, ALICE, { expiresAt: NOW_MS + SESSION_IDLE_MS });
    const request = aRequest(session);
    for (let use = 0; use < 3; use += 1) {
      context.advance(SESSION_IDLE_MS - 1);
      expect(await identifyPerson(request, context)).toBeDefined();
    }
    context.advance(SESSION_IDLE_MS);
    expect(await identifyPerson(request, context)).toBeUndefined();
  });

  test("does not last longer for what a page asks for by itself, and is still looked at then", async () => {
    const session = await addSession(context, ALICE, { expiresAt: NOW_MS + SESSION_IDLE_MS });
    const byItself = aRequest(session, { method: "GET", headers: { [BACKGROUND_HEADER]: "1" } });
    context.advance(SESSION_IDLE_MS - 1);
    const found = await identifyPerson(byItself, context);
    expect(found?.session).toMatchObject({ lastSeenAt: NOW_MS, expiresAt: NOW_MS + SESSION_IDLE_MS });
    context.advance(1);
    expect(await identifyPerson(byItself, context)).toBeUndefined();
    expect(await identifyPerson(aRequest(session), context)).toBeUndefined();
  });

  test("ends at last, however much it is used", async () => {
    const session = await addSession(context, ALICE, { expiresAt: NOW_MS + SESSION_IDLE_MS });
    const step = SESSION_IDLE_MS / 2;
    let lasted = 0;
    while (await identifyPerson(aRequest(session), context)) {
      context.advance(step);
      lasted += step;
    }
    expect(lasted).toBe(SESSION_MAX_MS);
  });

  test("is over then, whatever the store says of its end", async () => {
    const session = await addSession(context, ALICE, { expiresAt: NOW_MS + 2 * SESSION_MAX_MS });
    context.advance(SESSION_MAX_MS - 1);
    expect(await identifyPerson(aRequest(session), context)).toBeDefined();
    const other = await addSession(context, ALICE, { expiresAt: NOW_MS + 2 * SESSION_MAX_MS });
    context.advance(1);
    expect(await identifyPerson(aRequest(other), context)).toBeUndefined();
  });

  test("is not written with every request", async () => {
    const session = await addSession(context, ALICE);
    context.advance(59_999);
    const found = await identifyPerson(aRequest(session), context);
    expect(found?.session.lastSeenAt).toBe(NOW_MS);
  });
});

describe("a request that changes something", () => {
  const forbidden = { name: "ProblemError", code: "forbidden" };

  test.each(["POST", "PUT", "PATCH", "DELETE"])("%s needs the session's own token in a header", async (method) => {
    const session = await addSession(context, ALICE);
    const other = await addSession(context, CAROL);
    const second = await addSession(context, ALICE);
    expect(await identifyPerson(aRequest(session, { method }), context)).toBeDefined();
    for (const csrf of ["", other.csrf, second.csrf, `${session.csrf}x`, session.csrf.toUpperCase(), session.token]) {
      const request = aRequest(session, { method, headers: { [CSRF_HEADER]: csrf } });
      await expect(identifyPerson(request, context)).rejects.toMatchObject(forbidden);
    }
    const bare = aRequest(session, { method });
    bare.headers.delete(CSRF_HEADER);
    await expect(identifyPerson(bare, context)).rejects.toMatchObject(forbidden);
  });

  test.each<[string, Record<string, string>, boolean]>([
    ["a page of the server", { origin: SERVER, "sec-fetch-site": "same-origin" }, true],
    ["no page", {}, true],
    ["a page of another site", { origin: "https://evil.example" }, false],
    ["a page of a neighbouring host", { origin: "https://www.acme.dev", "sec-fetch-site": "same-site" }, false],
    ["a page on another port", { origin: `${SERVER}:8443` }, false],
    ["a page without TLS", { origin: "http://lock.acme.dev" }, false],
    ["a page in a sandbox", { origin: "null" }, false],
    ["a page that names the server in its path", { origin: `https://evil.example/${SERVER}` }, false],
    ["a page of another site, as the browser says", { origin: SERVER, "sec-fetch-site": "cross-site" }, false],
    ["a link", { origin: SERVER, "sec-fetch-site": "none" }, false],
  ])("that comes from %s", async (_name, { origin, ...headers }, isTaken) => {
    const request = aRequest(await addSession(context, ALICE), { headers });
    if (origin === undefined) request.headers.delete("origin");
    else request.headers.set("origin", origin);
    const found = identifyPerson(request, context);
    if (isTaken) expect(await found).toBeDefined();
    else await expect(found).rejects.toMatchObject(forbidden);
  });

  test("needs none of it to read", async () => {
    const request = aRequest(await addSession(context, ALICE), {
      method: "GET",
      headers: { origin: "https://x.example" },
    });
    request.headers.delete(CSRF_HEADER);
    expect(await identifyPerson(request, context)).toBeDefined();
  });
});

describe("the cookie", () => {
  test.each([
    ["https://lock.acme.dev", "__Host-intentlock_session"],
    ["http://127.0.0.1:4700", "intentlock_session"],
  ])("has at %s a name that no other host can set, where that can be", (publicUrl, name) => {
    expect(nameSessionCookie(publicUrl)).toBe(name);
    const written = writeSessionCookie("t".repeat(43), { publicUrl, maxAgeSeconds: 60 });
    const sent = new Headers({ cookie: written.split(";")[0] ?? "" });
    expect(readSessionCookie(sent, publicUrl)).toBe("t".repeat(43));
  });

  test("is for the server alone, and not for scripts", () => {
    const cookie = writeSessionCookie("token", { publicUrl: SERVER, maxAgeSeconds: 60 });
    expect(cookie).toBe(`${COOKIE}=token; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure`);
  });

  test.each([
    ["http://127.0.0.1:4700", false],
    ["http://localhost", false],
    ["http://[::1]:80/", false],
    ["http://lock.acme.dev", true],
    ["http://localhost.evil.example", true],
    ["https://localhost", true],
  ])("travels without TLS on this machine alone: %s", (publicUrl, isSecure) => {
    const cookie = writeSessionCookie("token", { publicUrl, maxAgeSeconds: 60 });
    expect(cookie.endsWith("; Secure")).toBe(isSecure);
  });
});
