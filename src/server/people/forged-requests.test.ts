import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { aServerWithBrowsers, type Browser, type ServerWithBrowsers } from "../../../test/browsers.ts";
import { ALICE } from "../../../test/builders.ts";
import { ROOT } from "../../../test/servers.ts";
import { BOB } from "../../../test/store-builders.ts";
import { type AnyEndpoint, CSRF_HEADER, endpoints, fillPath, listParameters } from "../../core/api/index.ts";
import { BEAT_MS } from "./inbox-feed.ts";
import { SESSION_IDLE_MS } from "./session.ts";

const open: ServerWithBrowsers[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start() {
  const one = await aServerWithBrowsers();
  open.push(one);
  return one;
}

/** Everything that a person who is signed in can change, also where an agent could. */
const changing = Object.entries(endpoints as Record<string, AnyEndpoint>).filter(
  ([, { method, auth }]) => method !== "GET" && (auth.includes("person") || auth.includes("admin")),
);

/** What another site's page can make a browser send that is signed in; `""` is no such header. */
const FORGED: readonly (readonly [string, Record<string, string>])[] = [
  ["without the session's token", { [CSRF_HEADER]: "" }],
  ["with a token of another session", { [CSRF_HEADER]: "x".repeat(43) }],
  ["with the token, from another site", { origin: "https://evil.example" }],
  ["with the token, from a neighbouring host", { origin: "https://other.intentlock.test" }],
  ["with the token, over plain HTTP", { origin: "http://intentlock.test" }],
  ["with the token, from a sandboxed frame", { origin: "null" }],
  ["with the token, cross-site", { "sec-fetch-site": "cross-site" }],
  ["with the token, same-site", { "sec-fetch-site": "same-site" }],
  ["with the token, from nowhere", { "sec-fetch-site": "none" }],
];

function fill(path: string): string {
  return fillPath(path, Object.fromEntries(listParameters(path).map((name) => [name, name === "email" ? ALICE : "1"])));
}

describe("a page of another site changes nothing", () => {
  test("and every endpoint that changes something is tried here", () => {
    const names = changing.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(["decideHold", "createSignInLink", "pushPolicy", "signOut"]));
  });

  test.each(changing)("%s", async (_name, { method, path, body }) => {
    const one = await start();
    const root = await one.signIn(ROOT);
    const before = await one.store.adminAudit.list();
    for (const [what, headers] of FORGED) {
      const answer = await root.ask(method, fill(path), body && {}, headers);
      expect([what, answer.status, answer.body.code]).toEqual([what, 403, "forbidden"]);
    }
    expect(await one.store.adminAudit.list()).toEqual(before);
    expect((await root.ask("GET", "/v1/session")).status).toBe(200);
  });
});

describe("the hold of others", () => {
  const attempts: readonly (readonly [string, (page: Browser, holdId: string) => Promise<{ status: number }>])[] = [
    ["is not shown", (page, holdId) => page.ask("GET", `/v1/inbox/${holdId}`)],
    ["is not answered as an agent's", (page, holdId) => page.ask("GET", `/v1/holds/${holdId}`)],
    ["is not decided", (page, holdId) => page.ask("POST", `/v1/holds/${holdId}/decision`, { decision: "reject" })],
  ];

  test.each(attempts)("%s to whoever knows its id", async (_what, attempt) => {
    const one = await start();
    const holdId = await one.hold();
    for (const email of [ALICE, ROOT]) {
      expect((await attempt(await one.signIn(email), holdId)).status).toBeGreaterThanOrEqual(401);
    }
    expect((await one.store.holds.get(holdId))?.status).toBe("pending");
    expect((await (await one.signIn(BOB)).ask("GET", `/v1/inbox/${holdId}`)).body).toMatchObject({ holdId });
  });
});

describe("the events of the inbox", () => {
  /** A page that hears; `read` gives all that it was told, once `until` is in it or the stream is over. */
  async function listen(one: ServerWithBrowsers, { cookie }: Pick<Browser, "cookie">, init: RequestInit = {}) {
    const url = `${one.server.context.publicUrl}/v1/inbox/events`;
    const response = await one.server.fetch(new Request(url, { headers: { cookie }, ...init }));
    const reader = response.body!.getReader();
    let text = "";
    const read = async (until: string): Promise<string> => {
      while (!text.includes(until)) {
        const { value, done } = await reader.read();
        if (done) break;
        text += new TextDecoder().decode(value);
      }
      return text;
    };
    return { response, read, close: () => reader.cancel() };
  }

  test("are a stream that nobody keeps", async () => {
    const one = await start();
    const page = await listen(one, await one.signIn(BOB));
    expect(page.response.status).toBe(200);
    expect(Object.fromEntries(page.response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    const holdId = await one.hold();
    expect(await page.read(holdId)).toContain(`event: hold\ndata: {"holdId":"${holdId}","status":"pending"}\n\n`);
    await page.close();
  });

  test("do not make a session last longer, and end with it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const one = await start();
    const bob = await one.signIn(BOB);
    one.clock.advance(SESSION_IDLE_MS / 1000 - 1);
    const page = await listen(one, bob);
    const text = page.read("never");
    one.clock.advance(1);
    vi.advanceTimersByTime(BEAT_MS);
    expect(await text).toBe(": here\n\n");
    expect((await bob.ask("GET", "/v1/session")).status).toBe(401);
  });

  test("say nothing of holds to a person who may see none, nor of what is in them to anybody", async () => {
    const one = await start();
    const [alice, bob] = [await listen(one, await one.signIn(ALICE)), await listen(one, await one.signIn(BOB))];
    await alice.read("here");
    const heard = alice.read("never");
    const holdId = await one.hold();
    expect(await bob.read(holdId)).not.toContain("argument-of-a-call");
    await one.server.close();
    expect(await heard).toBe(": here\n\n");
  });

  test("are for people who are signed in", async () => {
    const one = await start();
    for (const ask of [{ apiKey: null }, { apiKey: one.agent.apiKey }, { apiKey: null, headers: { cookie: "x=y" } }]) {
      expect((await one.ask("GET", "/v1/inbox/events", ask)).body.code).toBe("sign_in_required");
    }
  });

  test.each([
    ["a neighbouring host", { "sec-fetch-site": "same-site" }],
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another origin", { origin: "https://evil.example" }],
  ])("are not for a page of %s, which would use up the streams of a person", async (_who, headers) => {
    const one = await start();
    const bob = await one.signIn(BOB);
    for (let count = 0; count < 20; count += 1) {
      expect((await bob.ask("GET", "/v1/inbox/events", undefined, headers)).body.code).toBe("forbidden");
    }
    const page = await listen(one, bob);
    expect(page.response.status).toBe(200);
    await page.close();
  });

  test("end when the server does, which does not wait for them", async () => {
    const one = await start();
    const page = await listen(one, await one.signIn(BOB));
    await page.read("here");
    const rest = page.read("never");
    await one.server.close();
    expect(await rest).toBe(": here\n\n");
  });

  test("leave nobody behind who listens, however they end", async () => {
    const one = await start();
    const bob = await one.signIn(BOB);
    const left = new Set<object>();
    const listening = one.store.signals.listen.bind(one.store.signals);
    one.store.signals.listen = (...given) => {
      const [stop, key] = [listening(...given), {}];
      left.add(key);
      return () => {
        left.delete(key);
        stop();
      };
    };
    await bob.ask("HEAD", "/v1/inbox/events");
    expect(left.size).toBe(0);
    const aborting = new AbortController();
    const gone = await listen(one, bob, { signal: aborting.signal });
    await gone.read("here");
    const [closed, third] = [await listen(one, bob), await listen(one, bob)];
    expect(left.size).toBe(2);
    aborting.abort();
    await closed.close();
    await third.close();
    expect(left.size).toBe(0);
  });

  test("of the 21st page are refused", async () => {
    const one = await start();
    const bob = await one.signIn(BOB);
    const pages = await Promise.all(Array.from({ length: 20 }, () => listen(one, bob)));
    const refused = await bob.ask("GET", "/v1/inbox/events");
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    for (const page of pages) await page.close();
    const again = await listen(one, bob);
    expect(again.response.status).toBe(200);
    await again.close();
  });
});
