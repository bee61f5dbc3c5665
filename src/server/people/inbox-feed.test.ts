import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import {
  addHold,
  addPeople,
  addPerson,
  addSession,
  CAROL,
  createContext,
  type TestContext,
} from "../../../test/people.ts";
import { BOB, NOW_MS } from "../../../test/store-builders.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "../../../test/stores.ts";
import type { Store } from "../store/index.ts";
import { decideHold } from "./decide-hold.ts";
import { BEAT_MS, InboxFeed } from "./inbox-feed.ts";

const ROOT = "root@acme.dev";
const ends: (() => Promise<unknown>)[] = [];

let context: TestContext;
let feed: InboxFeed;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  context = await createContext();
  ends.push(() => context.store.close());
  await addPeople(context.store);
  await addPerson(context.store, ROOT, ["admin"]);
  feed = new InboxFeed(context);
});
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

/** A page that a person has open, and what it was told so far. */
async function aPage(email: string, of: InboxFeed = feed, at: TestContext = context) {
  const session = await addSession(at, email);
  const person = (await at.store.people.get(email))!;
  const reader = of.open({ person, session }).getReader();
  const page = { email, session, text: "", isOver: false, close: () => reader.cancel() };
  const read = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      page.text += new TextDecoder().decode(value);
    }
    page.isOver = true;
  };
  void read();
  ends.push(page.close);
  await vi.waitFor(() => expect(page.text).toContain(": here\n\n"));
  return page;
}

/** Counts who listens to a store. */
function countListeners({ signals }: Store): () => number {
  let count = 0;
  const listen = signals.listen.bind(signals);
  vi.spyOn(signals, "listen").mockImplementation((...given) => {
    const stop = listen(...given);
    count += 1;
    return () => {
      count -= 1;
      stop();
    };
  });
  return () => count;
}

describe("a page that is open", () => {
  test("hears of what its person may see, from the opening on, and of nothing else", async () => {
    const pages = await Promise.all([CAROL, ALICE, BOB, ROOT].map((email) => aPage(email)));
    const [carol, alice, bob, root] = pages as [
      (typeof pages)[0],
      (typeof pages)[0],
      (typeof pages)[0],
      (typeof pages)[0],
    ];
    const { hold } = await addHold(context.store);
    await vi.waitFor(() => expect(carol.text).toContain(`{"holdId":"${hold.id}","status":"pending"}`));
    for (const page of [alice, bob, root]) expect(page.text).toBe(": here\n\n");
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "reject" });
    for (const page of [carol, alice, root]) {
      await vi.waitFor(() => expect(page.text).toContain(`{"holdId":"${hold.id}","status":"rejected"}`));
    }
    expect(bob.text).toBe(": here\n\n");
    for (const { text } of pages) expect(text).not.toContain("landlord");
  });

  test("hears that time is over", async () => {
    const { hold } = await addHold(context.store, { expiresAt: NOW_MS + 1000 });
    const page = await aPage(CAROL);
    context.advance(1000);
    await context.store.holds.expire(context.clock());
    await vi.waitFor(() => expect(page.text).toContain(`{"holdId":"${hold.id}","status":"expired"}`));
  });

  test("is told to look when signals may have been missed, and when a hold cannot be read", async () => {
    let tell: (payload: string | undefined) => void = () => {};
    vi.spyOn(context.store.signals, "listen").mockImplementation((_channel, listener) => {
      tell = listener;
      return () => {};
    });
    const page = await aPage(CAROL);
    tell(undefined);
    await vi.waitFor(() => expect(page.text).toMatch(/event: look\ndata: {}\n\n$/));
    vi.spyOn(context.store.holds, "head").mockRejectedValueOnce(new Error("the database is away"));
    tell("hold-1");
    await vi.waitFor(() => expect(page.text.match(/event: look/g)).toHaveLength(2));
    expect(context.logged.join("")).not.toContain("the database is away");
    const { hold } = await addHold(context.store);
    tell(hold.id);
    await vi.waitFor(() => expect(page.text).toContain(hold.id));
  });

  test("shows that it is there, and that does not make a session last longer", async () => {
    const page = await aPage(CAROL);
    context.advance(3_000_000);
    await vi.advanceTimersByTimeAsync(BEAT_MS);
    await vi.waitFor(() => expect(page.text).toBe(": here\n\n".repeat(2)));
    expect(await context.store.signIn.findSession(page.session.hash, context.clock())).toMatchObject({
      lastSeenAt: NOW_MS,
      expiresAt: page.session.expiresAt,
    });
  });

  test.each<[string, (hash: string) => Promise<unknown>]>([
    ["signs out", (hash) => context.store.signIn.removeSession(hash)],
    ["is removed", () => context.store.people.remove(CAROL)],
    [
      "is disabled",
      () => {
        const carol = { email: CAROL, roles: [], groups: [], createdAt: NOW_MS };
        return context.store.people.upsert({ ...carol, disabledAt: NOW_MS });
      },
    ],
    ["has been idle for too long", async () => context.advance(3_600_000)],
    ["cannot be looked at", async () => context.store.close()],
  ])("ends with the next look when its person %s", async (_what, change) => {
    const listeners = countListeners(context.store);
    const page = await aPage(CAROL);
    await change(page.session.hash);
    await vi.advanceTimersByTimeAsync(BEAT_MS);
    await vi.waitFor(() => expect(page.isOver).toBe(true));
    expect(listeners()).toBe(0);
  });

  test("is judged by the roles that its person has now", async () => {
    const page = await aPage(CAROL);
    await addPerson(context.store, CAROL, ["member"]);
    await vi.advanceTimersByTimeAsync(BEAT_MS);
    await vi.waitFor(() => expect(page.text).toBe(": here\n\n".repeat(2)));
    const other = await aPage(CAROL);
    const { hold } = await addHold(context.store, { approvers: { emails: [CAROL] } });
    await addHold(context.store);
    await vi.waitFor(() => expect(other.text).toContain(hold.id));
    expect(page.text.match(/event: hold/g)).toHaveLength(1);
  });
});

test("a person has so many pages open and no more, and others have theirs", async () => {
  const pages = [];
  for (let count = 0; count < 20; count += 1) pages.push(await aPage(CAROL));
  await expect(aPage(CAROL)).rejects.toMatchObject({ code: "rate_limited" });
  await aPage(BOB);
  await pages[0]!.close();
  await aPage(CAROL);
});

test("nobody is listened to and nothing ticks when no page is open", async () => {
  const listeners = countListeners(context.store);
  expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
  const pages = [await aPage(CAROL), await aPage(CAROL), await aPage(BOB)];
  expect(listeners()).toBe(2);
  for (const page of pages) await page.close();
  expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
  const again = await aPage(CAROL);
  const { hold } = await addHold(context.store);
  await vi.waitFor(() => expect(again.text).toContain(hold.id));
});

describe.each([
  ["SQLite", createSqliteDatabase] as const,
  ...(POSTGRES_URL === undefined ? [] : [["PostgreSQL", createPostgresDatabase] as const]),
])("over %s", (name, createDatabase) => {
  test("a page hears of what another server does", async () => {
    // The file is looked at in intervals.
    vi.useRealTimers();
    const database = await createDatabase();
    const [here, there] = [await createContext(await database.open()), await createContext(await database.open())];
    ends.push(() => database.drop());
    await addPeople(here.store);
    const page = await aPage(CAROL, new InboxFeed(here), here);
    const { hold } = await addHold(there.store);
    const expected = name === "SQLite" ? "event: look" : `{"holdId":"${hold.id}","status":"pending"}`;
    await vi.waitFor(() => expect(page.text).toContain(expected), { timeout: 5000 });
    await decideHold(there, { email: CAROL }, { holdId: hold.id, decision: "approve" });
    const decided = name === "SQLite" ? /event: look.*event: look/s : /"status":"approved"/;
    await vi.waitFor(() => expect(page.text).toMatch(decided), { timeout: 5000 });
  });
});
