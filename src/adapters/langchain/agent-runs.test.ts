import { describe, expect, test, vi } from "vitest";
import { aSession } from "../../../test/sessions.ts";
import type { Session } from "../../session/index.ts";
import { AgentRuns } from "./agent-runs.ts";

const WHOSE = { user: "alice@acme.dev", thread: "1" };
const UNKNOWN = { code: "ERR_UNKNOWN_PLAN" };

async function start(): Promise<Session> {
  return (await aSession()).session;
}

describe("a run", () => {
  test("has one session, however often it is asked for", async () => {
    const runs = new AgentRuns();
    const id = runs.begin();
    const starting = vi.fn(start);
    const sessions = await Promise.all([1, 2].map(() => runs.open({ id, ...WHOSE }, starting)));
    expect(sessions[0]).toBe(sessions[1]);
    expect(await runs.find({ id, ...WHOSE })).toBe(sessions[0]);
    expect(starting).toHaveBeenCalledTimes(1);
  });

  test.each<[string, object]>([
    ["another user", { user: "eve@acme.dev" }],
    ["another thread", { thread: "2" }],
    ["no thread", { thread: undefined }],
    ["another name", { id: crypto.randomUUID() }],
    ["no name", { id: undefined }],
    ["a name that every object has", { id: "constructor" }],
  ])("is none for %s", async (_name, over) => {
    const runs = new AgentRuns();
    const id = runs.begin();
    await runs.open({ id, ...WHOSE }, start);
    const starting = vi.fn(start);
    await expect(runs.open({ id, ...WHOSE, ...over }, starting)).rejects.toMatchObject(UNKNOWN);
    await expect(runs.find({ id, ...WHOSE, ...over })).rejects.toMatchObject(UNKNOWN);
    expect(starting).not.toHaveBeenCalled();
  });

  test("has no session before it is planned", async () => {
    const runs = new AgentRuns();
    await expect(runs.find({ id: runs.begin(), ...WHOSE })).rejects.toMatchObject(UNKNOWN);
  });

  test("whose plan fails can be planned again", async () => {
    const runs = new AgentRuns();
    const id = runs.begin();
    await expect(runs.open({ id, ...WHOSE }, () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    await expect(runs.open({ id, ...WHOSE }, start)).resolves.toBeDefined();
  });

  test("that is done is closed, and no more", async () => {
    const runs = new AgentRuns();
    const id = runs.begin();
    const session = await runs.open({ id, ...WHOSE }, start);
    const close = vi.spyOn(session, "close");
    await runs.end(id);
    expect(close).toHaveBeenCalledTimes(1);
    await expect(runs.find({ id, ...WHOSE })).rejects.toMatchObject(UNKNOWN);
    await runs.end(id);
    await runs.end(undefined);
  });

  test("that nobody ends is given up, if nothing happened in it for longest", async () => {
    const runs = new AgentRuns(2);
    const [first, second] = [runs.begin(), runs.begin()];
    const old = await runs.open({ id: first, ...WHOSE }, start);
    const close = vi.spyOn(await runs.open({ id: second, ...WHOSE }, start), "close");
    expect(await runs.find({ id: first, ...WHOSE })).toBe(old);
    runs.begin();
    await vi.waitFor(() => expect(close).toHaveBeenCalledTimes(1));
    expect(await runs.find({ id: first, ...WHOSE })).toBe(old);
    await expect(runs.find({ id: second, ...WHOSE })).rejects.toMatchObject(UNKNOWN);
  });
});

describe("a run of another process", () => {
  const id = "from-the-state";

  test("goes on with its plan, once, and belongs to who went on with it", async () => {
    const runs = new AgentRuns();
    const resume = vi.fn(start);
    const sessions = await Promise.all([1, 2].map(() => runs.find({ id, ...WHOSE, resume })));
    expect(sessions[0]).toBe(sessions[1]);
    const starting = vi.fn(start);
    expect(await runs.open({ id, ...WHOSE, resume }, starting)).toBe(sessions[0]);
    expect([resume, starting].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    await expect(runs.find({ id, ...WHOSE, user: "eve@acme.dev", resume })).rejects.toMatchObject(UNKNOWN);
    expect(await runs.planOf(id)).toBe(sessions[0]?.planId);
  });

  test("is not planned anew if its plan does not go on, and can be tried again", async () => {
    const runs = new AgentRuns();
    const starting = vi.fn(start);
    const resume = vi.fn(start).mockRejectedValueOnce(new Error("down"));
    await expect(runs.open({ id, ...WHOSE, resume }, starting)).rejects.toThrow("down");
    await expect(runs.open({ id, ...WHOSE }, starting)).rejects.toMatchObject(UNKNOWN);
    await expect(runs.open({ id, ...WHOSE, resume }, starting)).resolves.toBeDefined();
    expect(starting).not.toHaveBeenCalled();
  });

  test("does not stand in for one of this process", async () => {
    const runs = new AgentRuns();
    const here = runs.begin();
    const resume = vi.fn(start);
    await expect(runs.find({ id: here, ...WHOSE, resume })).rejects.toMatchObject(UNKNOWN);
    await runs.open({ id: here, ...WHOSE, resume }, start);
    expect(resume).not.toHaveBeenCalled();
  });

  test("is given up like any other", async () => {
    const runs = new AgentRuns(1);
    const session = await runs.find({ id, ...WHOSE, resume: start });
    const close = vi.spyOn(session, "close");
    await runs.find({ id: "another", ...WHOSE, resume: start });
    await vi.waitFor(() => expect(close).toHaveBeenCalledTimes(1));
  });
});
