import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import { addHold, addPeople, addPerson, CAROL, createContext, SERVER, type TestContext } from "../../../test/people.ts";
import { NOW_MS } from "../../../test/store-builders.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "../../../test/stores.ts";
import type { WebhookEvent } from "../../core/api/index.ts";
import { createWebhook } from "../admin/webhooks.ts";
import { decideHold } from "../people/decide-hold.ts";
import { deliverOften } from "./deliver-often.ts";
import { deliverWebhooks } from "./deliver-webhooks.ts";
import { createWebhookSecret } from "./sign-webhook.ts";
import { verifyWebhook } from "./verify-webhook.ts";

let context: TestContext;
const cleanUps: (() => unknown)[] = [];

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  await addPerson(context.store, "root@acme.dev", ["admin"]);
  cleanUps.push(() => context.store.close());
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A network in which everybody answers the same. */
function aNetwork(answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 })) {
  const sent: Sent[] = [];
  const send = (async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return await answer();
  }) as typeof fetch;
  return { sent, fetch: send };
}

async function aWebhook(over: { url?: string; events?: readonly WebhookEvent[]; agentId?: string } = {}) {
  const body = { url: "https://hooks.acme.dev/x", events: ["hold.pending", "hold.decided"] as const, ...over };
  return await createWebhook({ ...context, actor: "root@acme.dev" }, body);
}

describe("a webhook", () => {
  test("is told that a hold waits, and what became of it", async () => {
    const { secret } = await aWebhook();
    const { hold, plan } = await addHold(context.store);
    const { sent, fetch } = aNetwork();
    expect(await deliverWebhooks(context, { fetch })).toBe(1);
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "reject", comment: "a comment" });
    expect(await deliverWebhooks(context, { fetch })).toBe(1);
    expect(await deliverWebhooks(context, { fetch })).toBe(0);
    const messages = sent.map(({ init }) => {
      const verified = verifyWebhook(init.body as string, init.headers as Record<string, string>, secret, {
        now: NOW_MS,
      });
      return verified.valid ? verified.message : verified.problem;
    });
    const common = {
      holdId: hold.id,
      kind: "call",
      planId: plan.id,
      agentId: plan.agentId,
      tool: "send_money",
      user: ALICE,
    };
    const more = { expiresAt: NOW_MS / 1000 + 300, inboxUrl: `${SERVER}/?hold=${hold.id}` };
    expect(messages).toEqual([
      { event: "hold.pending", ...common, ...more },
      { event: "hold.decided", ...common, ...more, status: "rejected" },
    ]);
    expect(sent.map(({ url }) => url)).toEqual(["https://hooks.acme.dev/x", "https://hooks.acme.dev/x"]);
    const ids = sent.map(({ init }) => (init.headers as Record<string, string>)["webhook-id"]);
    expect(new Set(ids).size).toBe(2);
    // Neither what the call would do, nor what people wrote, nor what lets one decide.
    for (const { init } of sent) expect(JSON.stringify(init)).not.toMatch(/landlord|a comment|whsec_|"approval"/);
  });

  test("is told of holds that nobody decided", async () => {
    await aWebhook({ events: ["hold.decided"] });
    await addHold(context.store);
    await context.store.holds.expire(NOW_MS + 300_000);
    const { sent, fetch } = aNetwork();
    context.advance(300_000);
    await deliverWebhooks(context, { fetch });
    expect(sent.map(({ init }) => JSON.parse(init.body as string).status)).toEqual(["expired"]);
  });

  test("is told of its own agent and its own events, and of nothing once it is removed", async () => {
    const { hold, plan } = await addHold(context.store);
    await aWebhook({ agentId: plan.agentId, events: ["hold.pending"] });
    await addHold(context.store);
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "reject" });
    const { sent, fetch } = aNetwork();
    await deliverWebhooks(context, { fetch });
    expect(sent).toEqual([]);
    const { webhookId } = await aWebhook();
    await addHold(context.store);
    await context.store.webhooks.disable(webhookId, NOW_MS);
    await deliverWebhooks(context, { fetch });
    expect(sent).toEqual([]);
  });

  test("is tried again after growing pauses with the same id and another signature, and given up a day later", async () => {
    await aWebhook({ events: ["hold.pending"] });
    await addHold(context.store);
    const { sent, fetch } = aNetwork(() => new Response("no", { status: 503 }));
    const times: number[] = [];
    for (let minute = 0; minute < 48 * 60; minute += 1) {
      const tried = await deliverWebhooks(context, { fetch });
      if (tried > 0) times.push(minute);
      context.advance(60_000);
    }
    expect(times).toEqual([0, 1, 2, 4, 14, 74, 314, 1274]);
    const headers = sent.map(({ init }) => init.headers as Record<string, string>);
    expect(new Set(headers.map((one) => one["webhook-id"])).size).toBe(1);
    expect(new Set(headers.map((one) => one["webhook-signature"])).size).toBe(8);
    const logged = context.logged.join("");
    expect(logged).toContain('"error":"status 503"');
    expect(logged).toContain('"isGivenUp":true');
    for (const hidden of ["hooks.acme.dev", "whsec_", "landlord"]) expect(logged).not.toContain(hidden);
  });

  test.each<[string, () => Response | Promise<Response>, number]>([
    ["wants no more of it", () => new Response(null, { status: 410 }), 1],
    ["leads elsewhere", () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } }), 2],
    ["refuses", () => new Response(null, { status: 404 }), 2],
    ["cannot be reached", () => Promise.reject(new TypeError("connect ECONNREFUSED 10.0.0.1 secret-path")), 2],
  ])("that %s", async (_name, answer, tries) => {
    await aWebhook({ events: ["hold.pending"] });
    await addHold(context.store);
    const { sent, fetch } = aNetwork(answer);
    await deliverWebhooks(context, { fetch });
    context.advance(5000);
    await deliverWebhooks(context, { fetch });
    expect(sent).toHaveLength(tries);
    expect(sent.every(({ init }) => init.redirect === "manual" && init.signal)).toBe(true);
    expect(context.logged.join("")).not.toContain("secret-path");
  });

  test.each(["http://acme.dev/", "file:///etc/passwd", "http://127.0.0.1.evil.example/", "https://a@acme.dev/", "x"])(
    "cannot be %s",
    async (url) => {
      await expect(aWebhook({ url })).rejects.toMatchObject({ code: "invalid_request" });
      // Also if it got into the store by another way.
      const row = {
        id: "w",
        agentId: null,
        url,
        events: ["hold.pending"] as const,
        secret: createWebhookSecret(),
        createdAt: NOW_MS,
      };
      await context.store.webhooks.create(row);
      await addHold(context.store);
      const { sent, fetch } = aNetwork();
      expect(await deliverWebhooks(context, { fetch })).toBe(1);
      expect(sent).toEqual([]);
    },
  );

  test("that stops in the middle is told again", async () => {
    await aWebhook({ events: ["hold.pending"] });
    await addHold(context.store);
    const stopping = new AbortController();
    const { fetch } = aNetwork(() => {
      stopping.abort();
      return Promise.reject(stopping.signal.reason);
    });
    await deliverWebhooks(context, { fetch, signal: stopping.signal });
    const next = aNetwork();
    expect(await deliverWebhooks(context, { fetch: next.fetch })).toBe(0);
    context.advance(60_000);
    expect(await deliverWebhooks(context, { fetch: next.fetch })).toBe(1);
    expect(next.sent).toHaveLength(1);
  });
});

describe("over a socket", () => {
  async function aReceiver(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanUps.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  test("it follows no redirect", async () => {
    const asked: (string | undefined)[] = [];
    const url = await aReceiver((request, response) => {
      asked.push(request.url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    await aWebhook({ url, events: ["hold.pending"] });
    await addHold(context.store);
    await deliverWebhooks(context);
    expect(asked).toEqual(["/hook"]);
  });

  test("it does not read an answer without end", async () => {
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const url = await aReceiver((_request, response) => {
      response.on("close", resolve);
      const write = (): void => {
        while (response.write("x".repeat(65_536)));
        response.once("drain", write);
      };
      write();
    });
    await aWebhook({ url, events: ["hold.pending"] });
    await addHold(context.store);
    await deliverWebhooks(context);
    await isClosed;
    expect(await deliverWebhooks(context)).toBe(0);
  });

  test("it is sent in the background until it is told to stop", async () => {
    const { promise: received, resolve } = Promise.withResolvers<Record<string, unknown>>();
    const url = await aReceiver((request, response) => {
      response.writeHead(204).end();
      resolve(request.headers);
    });
    const stop = deliverOften(context, { everyMs: 1 });
    await aWebhook({ url });
    await addHold(context.store);
    expect(await received).toMatchObject({ "content-type": "application/json", "user-agent": "intentlock" });
    await stop();
    expect(context.logged.filter((line) => line.includes("cannot be delivered"))).toEqual([]);
  });
});

describe.each([
  ["SQLite", createSqliteDatabase] as const,
  ...(POSTGRES_URL === undefined ? [] : [["PostgreSQL", createPostgresDatabase] as const]),
])("by several instances over %s", (_name, createDatabase) => {
  test("each message is sent once", async () => {
    const database = await createDatabase();
    cleanUps.push(() => database.drop());
    const contexts = await Promise.all(
      [database.open(), database.open()].map(async (store) => createContext(await store)),
    );
    const operator = { ...contexts[0]!, actor: "root@acme.dev" };
    for (const url of ["https://one.acme.dev", "https://two.acme.dev"]) {
      await createWebhook(operator, { url, events: ["hold.pending"] });
    }
    for (let index = 0; index < 15; index += 1) await addHold(contexts[0]!.store);
    const { sent, fetch } = aNetwork();
    await Promise.all([0, 1, 0, 1].map((index) => deliverWebhooks(contexts[index]!, { fetch })));
    await deliverWebhooks(contexts[0]!, { fetch });
    const ids = sent.map(({ init }) => (init.headers as Record<string, string>)["webhook-id"]);
    expect(ids).toHaveLength(30);
    expect(new Set(ids).size).toBe(30);
  });
});
