import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import { addPeople, addPerson, addSession, createContext, SERVER, type TestContext } from "../../../test/people.ts";
import { aDecision, addPlan, appendEvents, NOW_MS, type PlanInStore } from "../../../test/store-builders.ts";
import {
  type AdminAuditAnswer,
  type AnyEndpoint,
  type DecisionsAnswer,
  endpoints,
  fillPath,
  readMessage,
} from "../../core/api/index.ts";
import { createServer, type IntentlockServer } from "../create-server.ts";
import { nameSessionCookie } from "../people/session-cookie.ts";

const ROOT = "root@acme.dev";
const EVE = "eve@acme.dev";
let context: TestContext;
let server: IntentlockServer;
let plan: PlanInStore;

beforeEach(async () => {
  context = await createContext();
  const { store, clock, log } = context;
  await addPeople(store);
  await addPerson(store, ROOT, ["admin"]);
  await addPerson(store, EVE, []);
  plan = await addPlan(store);
  await appendEvents(store, plan, [aDecision(plan)]);
  server = createServer({ store, clock, log, publicUrl: SERVER });
});
afterEach(() => server.close());

async function ask(email: string | undefined, path: string): Promise<Response> {
  const headers: Record<string, string> = {};
  if (email !== undefined) {
    headers["cookie"] = `${nameSessionCookie(SERVER)}=${(await addSession(context, email)).token}`;
  }
  return await server.fetch(new Request(`${SERVER}${path}`, { headers }));
}

const NAMES = [
  "listDecisions",
  "exportDecisions",
  "getStory",
  "getOverview",
  "listFlaggedPlans",
  "listAdminAudit",
] as const;
const QUERY: Partial<Record<(typeof NAMES)[number], string>> = { listFlaggedPlans: "?flagged=true" };

describe("over the API", () => {
  test.each<[string | undefined, readonly number[]]>([
    [ROOT, [200, 200, 200, 200, 200, 200]],
    [ALICE, [200, 200, 200, 403, 403, 403]],
    [EVE, [200, 200, 404, 403, 403, 403]],
    [undefined, [401, 401, 401, 401, 401, 401]],
  ])("%s is answered what they may see", async (email, statuses) => {
    const found: number[] = [];
    for (const name of NAMES) {
      const { path, answers } = endpoints[name] as AnyEndpoint;
      const response = await ask(email, `${fillPath(path, { planId: plan.id })}${QUERY[name] ?? ""}`);
      found.push(response.status);
      const text = await response.text();
      if (!response.ok || text === "") continue;
      expect(readMessage(answers[200]!, JSON.parse(text)).valid).toBe(true);
      if (email === EVE) expect(text).not.toContain(plan.id);
    }
    expect(found).toEqual(statuses);
  });

  test.each(["from=1.5", "to=-1", "limit=0", "limit=1001", "tool=", "verdict=Allow", "reason=A", "user=x", "more=1"])(
    "the query %s is refused",
    async (query) => {
      expect((await ask(ROOT, `/v1/decisions?${query}`)).status).toBe(400);
    },
  );

  test("a person is looked for in whatever way their address is written", async () => {
    for (const user of ["ALICE@acme.DEV", "Alice%40Acme.dev"]) {
      const answer = (await (await ask(ROOT, `/v1/decisions?user=${user}`)).json()) as DecisionsAnswer;
      expect(answer.decisions).toHaveLength(1);
    }
  });

  test.each(["hours=0", "hours=8785", "hours=1.5", "agentId=a/b"])("an overview of %s is refused", async (query) => {
    expect((await ask(ROOT, `/v1/overview?${query}`)).status).toBe(400);
  });
});

describe("the plans that somebody should look at", () => {
  test("are listed", async () => {
    await context.store.plans.flag(plan.id, { kind: "never_closed", at: NOW_MS });
    const answer = await (await ask(ROOT, "/v1/plans?flagged=true")).json();
    expect(readMessage(endpoints.listFlaggedPlans.answers[200]!, answer)).toMatchObject({ valid: true });
    expect(answer).toMatchObject({ plans: [{ planId: plan.id }] });
  });

  test.each([
    "",
    "?flagged=false",
    "?flagged=1",
    "?flagged=true&limit=0",
    "?flagged=true&from=x",
    "?flagged=true&more=1",
  ])("%j is refused", async (query) => {
    expect((await ask(ROOT, `/v1/plans${query}`)).status).toBe(400);
  });
});

describe("the trail of administrators", () => {
  test("is told newest first, in parts", async () => {
    for (let number = 0; number < 5; number++) {
      const event = { actor: ROOT, action: "agent.create", target: `agent-${number}`, details: { name: "\u202e<b>" } };
      await context.store.adminAudit.append({ at: NOW_MS + number, ...event });
    }
    const targets: string[] = [];
    let after = "";
    do {
      const response = await ask(ROOT, `/v1/admin-audit?limit=2${after && `&after=${after}`}`);
      const { entries, next } = (await response.json()) as AdminAuditAnswer;
      targets.push(...entries.map(({ target }) => target));
      expect(entries[0]).not.toHaveProperty("digest");
      after = next ?? "";
    } while (after !== "");
    expect(targets).toEqual([4, 3, 2, 1, 0].map((number) => `agent-${number}`));
    expect((await ask(ROOT, "/v1/admin-audit?after=x")).status).toBe(400);
  });
});
