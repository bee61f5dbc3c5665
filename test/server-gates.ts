import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { onTestFinished } from "vitest";
import { normalizeEmail, openPlanToken, type PublicKey, type Role } from "../src/core/index.ts";
import { HttpGate } from "../src/gates/http.ts";
import { HybridGate } from "../src/gates/hybrid.ts";
import { openOutbox } from "../src/gates/outbox/index.ts";
import type { Fetch } from "../src/gates/remote/server-client.ts";
import { openStore } from "../src/server/store/index.ts";
import type { TestClock } from "./clock.ts";
import type { GateSetup, GateUnderTest } from "./gate-conformance.ts";
import { aServer, PUBLIC_URL, type ServerUnderTest } from "./servers.ts";

/** Where a server is: in this process, or at the other end of a socket. */
export type Connect = (under: ServerUnderTest) => Promise<{ readonly baseUrl: string; readonly fetch?: Fetch }>;

export const inProcess: Connect = async ({ server }) => ({
  baseUrl: PUBLIC_URL,
  fetch: async (request) => await server.fetch(request),
});

/** A server that knows whom the set-up knows, at each request. */
export async function aServerFor(setup: GateSetup): Promise<ServerUnderTest> {
  const { planTtlSeconds, planMaxAgeSeconds, budget } = setup;
  const store = await openStore({ sqlite: ":memory:" });
  const settings = { planTtlSeconds, planMaxAgeSeconds, ...(budget && { budget }) };
  const clock = { now: setup.clock } as TestClock;
  const under = await aServer({ store, clock, settings, policy: setup.policy });
  onTestFinished(() => under.close());
  const known = new Set<string>();
  const sync = async (): Promise<void> => {
    const now = new Map(
      setup.users.map((user) => {
        const { email, roles = [], groups = [] } = typeof user === "string" ? { email: user } : user;
        return [normalizeEmail(email) ?? email, { roles: roles as readonly Role[], groups }];
      }),
    );
    for (const [email, { roles, groups }] of now) {
      known.add(email);
      await store.people.upsert({ email, name: null, roles, groups, createdAt: setup.clock(), disabledAt: null });
    }
    for (const email of known) if (!now.has(email)) await store.people.remove(email);
  };
  const { fetch } = under.server;
  return {
    ...under,
    server: {
      ...under.server,
      fetch: async (...parts) => {
        await sync();
        return await fetch.apply(under.server, parts);
      },
    },
  };
}

export function makeHttpGate(connect: Connect = inProcess): (setup: GateSetup) => Promise<GateUnderTest> {
  return async (setup) => {
    const under = await aServerFor(setup);
    const { agent, store } = under;
    const gate = new HttpGate({ ...(await connect(under)), apiKey: agent.apiKey, clock: setup.clock });
    return {
      gate,
      holds: true,
      open: async (token) => await openWith(under, token),
      keys: async () => await keysOf(under),
      audience: under.agent.agentId,
      entries: async (planId) => (await store.auditEntries.ofPlan(planId)).map(({ entry }) => entry),
    };
  };
}

export function makeHybridGate(connect: Connect = inProcess): (setup: GateSetup) => Promise<GateUnderTest> {
  return async (setup) => {
    const under = await aServerFor(setup);
    const outbox = await openOutbox({ path: join(await aFolder(), "outbox.db"), retentionMs: 3_600_000 });
    onTestFinished(() => outbox.close());
    const gate = new HybridGate({ ...(await connect(under)), apiKey: under.agent.apiKey, clock: setup.clock, outbox });
    return {
      gate,
      holds: true,
      open: async (token) => await openWith(under, token),
      keys: async () => await keysOf(under),
      audience: under.agent.agentId,
      entries: async (planId) => await outbox.entries(planId),
    };
  };
}

/** A folder for the length of a test. */
export async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "intentlock-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function openWith(under: ServerUnderTest, token: string): ReturnType<typeof openPlanToken> {
  return await openPlanToken(token, await keysOf(under), { audience: under.agent.agentId });
}

async function keysOf({ ask }: ServerUnderTest): Promise<readonly PublicKey[]> {
  return (await ask("GET", "/.well-known/jwks.json")).body.keys;
}

/** The server on a socket of this machine. */
export const overSocket: Connect = async ({ server }) => {
  const listening = Promise.withResolvers<number>();
  const http = serve(
    { fetch: (request, env) => server.fetch(request, env), port: 0, hostname: "127.0.0.1" },
    ({ port }) => listening.resolve(port),
  );
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        if ("closeAllConnections" in http) http.closeAllConnections();
      }),
  );
  return { baseUrl: `http://127.0.0.1:${await listening.promise}` };
};
