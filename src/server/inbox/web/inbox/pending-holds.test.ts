import { describe, expect, test, vi } from "vitest";
import { aHold } from "../../../../../test/inbox-items.ts";
import type { InboxItem, InboxItemAnswer } from "../../../../core/api/holds.ts";
import { ApiError } from "../api.ts";
import { PendingHolds } from "./pending-holds.ts";

/** A server with holds, and what was asked of it. */
function aServer(count: number) {
  const holds = new Map<string, InboxItemAnswer>();
  const asked: string[] = [];
  let failure: Error | undefined;
  const add = (over: Partial<InboxItemAnswer>): void => {
    const hold = aHold(over);
    holds.set(hold.holdId, hold);
  };
  for (let n = 0; n < count; n += 1) add({ holdId: `h${n}`, expiresAt: 1000 + n });
  const list = ({ limit, after = "0" }: { readonly limit: number; readonly after?: string }) => {
    const waiting = [...holds.values()].filter(({ status }) => status === "pending");
    waiting.sort((a, b) => a.expiresAt - b.expiresAt);
    const end = Number(after) + limit;
    return { holds: waiting.slice(Number(after), end), ...(end < waiting.length && { next: String(end) }) };
  };
  const get = vi.fn(async (path: string, { query }: { readonly query?: object } = {}) => {
    asked.push(path);
    if (failure) throw failure;
    if (query) return list(query as { limit: number });
    const hold = holds.get(path.slice("/v1/inbox/".length));
    if (!hold) throw new ApiError({ code: "not_found", title: "none", status: 404 });
    return hold;
  });
  const fail = (error: Error | undefined): void => {
    failure = error;
  };
  const pending = new PendingHolds({ get: get as never });
  return { pending, holds, asked, add, fail, get };
}

const ids = ({ holds }: PendingHolds): readonly string[] => holds.value.map(({ holdId }: InboxItem) => holdId);
const TIMEOUT = { timeout: 5000 };

describe("the holds that wait", () => {
  test("are loaded in parts, and all at once when they are loaded again", async () => {
    const { pending, get } = aServer(120);
    await pending.load();
    expect([ids(pending).length, pending.hasMore.value, pending.isLoading.value]).toEqual([50, true, false]);
    await pending.loadMore();
    await pending.loadMore();
    expect([ids(pending).length, pending.hasMore.value, pending.waiting.value]).toEqual([120, false, 120]);
    await pending.loadMore();
    expect(get).toHaveBeenCalledTimes(3);
    await pending.load();
    expect(get.mock.lastCall?.[1]?.query).toEqual({ status: "pending", limit: 150 });
  });

  test("say why they could not be loaded, until they can", async () => {
    const { pending, fail } = aServer(1);
    fail(new ApiError({ code: "unavailable", title: "down" }));
    await pending.load();
    expect([pending.error.value?.code, pending.isLoading.value]).toEqual(["unavailable", false]);
    fail(undefined);
    await pending.load();
    expect([pending.error.value, ids(pending)]).toEqual([undefined, ["h0"]]);
  });

  test("of one deadline stay where they are when they are loaded again, whichever is looked at", async () => {
    const { pending, add } = aServer(0);
    for (const holdId of ["first", "second", "third"]) add({ holdId, expiresAt: 1000 });
    await pending.load();
    pending.lookAt("third");
    await pending.load();
    expect(ids(pending)).toEqual(["first", "second", "third"]);
  });

  test("get the new one in its place, and say so", async () => {
    const { pending, add } = aServer(2);
    await pending.load();
    add({ holdId: "urgent", expiresAt: 1, tool: "delete_all" });
    pending.receive({ holdId: "urgent", status: "pending" });
    await vi.waitFor(() => expect(ids(pending)).toEqual(["urgent", "h0", "h1"]), TIMEOUT);
    expect(pending.arrival.value).toContain("delete_all");
  });

  test("pass over one that this person may not see", async () => {
    const { pending, asked } = aServer(1);
    await pending.load();
    pending.receive({ holdId: "others", status: "pending" });
    await vi.waitFor(() => expect(asked).toContain("/v1/inbox/others"), TIMEOUT);
    expect([ids(pending), pending.error.value]).toEqual([["h0"], undefined]);
  });

  test("are asked for together when many come at once", async () => {
    const { pending, add, asked } = aServer(0);
    await pending.load();
    for (let n = 0; n < 300; n += 1) {
      add({ holdId: `new${n}`, expiresAt: n });
      pending.receive({ holdId: `new${n}`, status: "pending" });
    }
    await vi.waitFor(() => expect(ids(pending)).toHaveLength(50), TIMEOUT);
    expect(asked).toEqual(["/v1/inbox", "/v1/inbox"]);
  });

  test("lose one that was decided, unless somebody looks at it", async () => {
    const { pending } = aServer(3);
    await pending.load();
    pending.lookAt("h1");
    pending.receive({ holdId: "h1", status: "approved" });
    pending.receive({ holdId: "h2", status: "expired" });
    expect(ids(pending)).toEqual(["h0", "h1"]);
    expect(pending.holds.value[1]?.status).toBe("approved");
    expect(pending.waiting.value).toBe(1);
    pending.lookAt("h0");
    expect(ids(pending)).toEqual(["h0"]);
  });

  test("keep the one that somebody looks at, also when they are loaded again without it", async () => {
    const { pending, holds } = aServer(2);
    await pending.load();
    pending.lookAt("h1");
    holds.delete("h1");
    await pending.load();
    expect(ids(pending)).toEqual(["h0", "h1"]);
    pending.lookAt("h0");
    await pending.load();
    expect(ids(pending)).toEqual(["h0"]);
  });

  test("do not get one back that was decided while it was on its way", async () => {
    const { pending, add, get } = aServer(0);
    await pending.load();
    add({ holdId: "quick" });
    const on = Promise.withResolvers<never>();
    get.mockReturnValueOnce(on.promise);
    pending.receive({ holdId: "quick", status: "pending" });
    await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(2), TIMEOUT);
    pending.receive({ holdId: "quick", status: "rejected" });
    on.resolve(aHold({ holdId: "quick" }) as never);
    await on.promise;
    await Promise.resolve();
    expect(ids(pending)).toEqual([]);
  });

  test("are loaded once more if they were asked for while they were loaded", async () => {
    const { pending, get } = aServer(1);
    await Promise.all([pending.load(), pending.load(), pending.load()]);
    await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(2), TIMEOUT);
  });

  test("tell those who watch", () => {
    const { pending } = aServer(0);
    const watcher = vi.fn();
    const stop = pending.watch(watcher);
    pending.receive({ holdId: "h", status: "rejected" });
    stop();
    pending.receive({ holdId: "h", status: "rejected" });
    expect(watcher.mock.calls).toEqual([[{ holdId: "h", status: "rejected" }]]);
  });
});
