import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import { addPeople, addPerson, addSession, createContext, SERVER, type TestContext } from "../../../test/people.ts";
import { aDecision, addPlan, appendEvents, BOB, NOW_MS, type PlanInStore } from "../../../test/store-builders.ts";
import { exportedDecisionSchema, type Problem, readMessage } from "../../core/api/index.ts";
import type { DecisionRecord } from "../../core/index.ts";
import { createServer, type IntentlockServer } from "../create-server.ts";
import { nameSessionCookie } from "../people/session-cookie.ts";

const ROOT = "root@acme.dev";
let context: TestContext;
let server: IntentlockServer;
let plan: PlanInStore;

beforeEach(async () => {
  context = await createContext();
  const { store, clock, log } = context;
  await addPeople(store);
  await addPerson(store, ROOT, ["admin"]);
  plan = await addPlan(store);
  server = createServer({ store, clock, log, publicUrl: SERVER });
});
afterEach(() => server.close());

function decided(over: Partial<DecisionRecord> = {}): DecisionRecord {
  return { ...(aDecision(plan) as DecisionRecord), ...over };
}

async function ask(email: string, query = "", init: RequestInit = {}): Promise<Response> {
  const { token } = await addSession(context, email);
  const headers = new Headers(init.headers);
  headers.set("cookie", `${nameSessionCookie(SERVER)}=${token}`);
  return await server.fetch(new Request(`${SERVER}/v1/decisions/export${query}`, { ...init, headers }));
}

async function linesOf(response: Response) {
  const text = await response.text();
  expect(text === "" || text.endsWith("\n")).toBe(true);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test("an export is a file with a line for each decision, whole", async () => {
  await appendEvents(context.store, plan, [decided({ args: { to: "landlord" } }), { type: "closed" }], {
    verdictChecks: ["recomputed"],
  });
  const response = await ask(ROOT);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="decisions.ndjson"');
  const lines = await linesOf(response);
  const [stored] = await context.store.auditEntries.ofPlan(plan.id, { fromSeq: 1, limit: 1 });
  expect(lines).toEqual([
    {
      planId: plan.id,
      seq: 1,
      agentId: plan.agentId,
      agentName: `agent ${plan.agentId}`,
      user: ALICE,
      receivedAt: NOW_MS,
      verdictCheck: "recomputed",
      entry: stored!.entry,
    },
  ]);
});

test("hostile text stays in its line", async () => {
  const text = '\u2028\u2029\u0085\r\n\u0000"}\n{"planId":"forged"}\u202e</script>💥';
  await appendEvents(context.store, plan, [decided({ callId: text, tool: "\n", args: { [text]: text } }), decided()]);
  const lines = await linesOf(await ask(ROOT));
  expect(lines).toHaveLength(2);
  expect(lines[1].entry.event).toMatchObject({ callId: text, tool: "\n", args: { [text]: text } });
  for (const line of lines) expect(readMessage(exportedDecisionSchema, line).valid).toBe(true);
});

test("people export what was done for them", async () => {
  await appendEvents(context.store, plan, [decided()]);
  const own = await addPlan(context.store, { userEmail: BOB });
  await appendEvents(context.store, own, [aDecision(own)]);
  expect(await linesOf(await ask(BOB))).toEqual([expect.objectContaining({ planId: own.id })]);
  expect(await linesOf(await ask(BOB, `?user=${ALICE}`))).toEqual([]);
  expect(await linesOf(await ask(ROOT, `?user=${ALICE.toUpperCase()}`))).toEqual([
    expect.objectContaining({ planId: plan.id }),
  ]);
});

test("that an administrator took them is on record, with what was asked for", async () => {
  await ask(BOB);
  expect(await context.store.adminAudit.list()).toEqual([]);
  await ask(ROOT, "?tool=send_money&from=5");
  expect(await context.store.adminAudit.list()).toMatchObject([
    { actor: ROOT, action: "history.export", target: "decisions", details: { tool: "send_money", from: 5 } },
  ]);
  vi.spyOn(context.store, "administer").mockRejectedValue(new Error("no"));
  expect((await ask(ROOT)).status).toBe(500);
});

test.each(["?limit=1", "?after=x", "?from=-1", "?from=1e3", "?tool=a%20b", "?verdict=maybe", "?user=nobody"])(
  "the query %s is refused",
  async (query) => {
    expect((await ask(ROOT, query)).status).toBe(400);
    expect(await context.store.adminAudit.list()).toEqual([]);
  },
);

test.each<[string, Record<string, string>]>([
  ["a link on another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }],
  ["a link on a neighbouring host", { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" }],
  ["a page of another origin", { origin: "https://evil.example" }],
  ["a page of another origin that says that it is typed", { origin: "null", "sec-fetch-site": "none" }],
])("%s starts no export, and none is on record", async (_who, headers) => {
  const response = await ask(ROOT, "", { headers });
  expect([response.status, ((await response.json()) as Problem).code]).toEqual([403, "forbidden"]);
  expect(await context.store.adminAudit.list()).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ["a page of the server", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" }],
  ["a page of the server, in a browser that does not say so", { origin: SERVER }],
  ["a person who types the address", { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }],
  ["no browser", {}],
])("%s starts an export", async (_who, headers) => {
  expect((await ask(ROOT, "", { headers })).status).toBe(200);
});

test("nobody exports who is not signed in", async () => {
  expect((await server.fetch(new Request(`${SERVER}/v1/decisions/export`))).status).toBe(401);
});

test("it is read one part at a time, as far as the client reads, and no further when it is gone", async () => {
  const args = { text: "x".repeat(600_000) };
  await appendEvents(
    context.store,
    plan,
    Array.from({ length: 7 }, () => decided({ args })),
  );
  const read = vi.spyOn(context.store.auditEntries, "decisions");
  const all = await linesOf(await ask(ROOT));
  expect(all.map(({ seq }) => seq)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  // Two fit into a part.
  expect(read).toHaveBeenCalledTimes(4);

  read.mockClear();
  const reader = (await ask(ROOT)).body!.getReader();
  const first = await reader.read();
  expect(first.value!.length).toBeLessThan(1_500_000);
  await new Promise(setImmediate);
  expect(read).toHaveBeenCalledTimes(1);
  await reader.cancel();
  await new Promise(setImmediate);
  expect(read).toHaveBeenCalledTimes(1);
});

test("a server that shuts down breaks it off, also in the middle of a part", async () => {
  const args = { text: "x".repeat(600_000) };
  await appendEvents(
    context.store,
    plan,
    Array.from({ length: 5 }, () => decided({ args })),
  );
  const reader = (await ask(ROOT)).body!.getReader();
  expect((await reader.read()).done).toBe(false);
  const next = reader.read();
  const closing = server.close();
  await expect(next).rejects.toThrow("broken off");
  await closing;
});

test("a database that fails breaks it off, and the client is not told why", async () => {
  const args = { text: "x".repeat(600_000) };
  await appendEvents(
    context.store,
    plan,
    Array.from({ length: 5 }, () => decided({ args })),
  );
  const reader = (await ask(ROOT)).body!.getReader();
  await reader.read();
  vi.spyOn(context.store.auditEntries, "decisions").mockRejectedValue(new Error("secret"));
  await expect(reader.read()).rejects.toThrow(/^The answer was broken off$/);
  expect(context.logged.at(-1)).toContain("answer broken off");
});
