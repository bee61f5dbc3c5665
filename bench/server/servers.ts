/** Two servers in one process of their own: ours, and the least that one could be. Prints where they are, and ends with its standard input. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";
import { createSecret, hashSecret } from "../../src/server/secret.ts";
import { startServer } from "../../src/server/serve.ts";
import { openStore } from "../../src/server/store/index.ts";

const url = process.argv[2] ?? "";
const schema = `intentlock_bench_${randomUUID().replaceAll("-", "")}`;
/** As many connections for both. */
const POOL = 10;

const policy = `
version: 1
default: block
rules:
  - id: allow-in-plan
    match: { inPlan: true }
    decision: allow
`;

const store = await openStore({ postgres: url, schema, poolSize: POOL });
const agentId = randomUUID();
const apiKey = createSecret("ilk_");
const createdAt = Date.now();
await store.agents.create({ id: agentId, name: "bench", settings: {}, createdAt });
await store.policies.push({ agentId, text: policy, createdAt, createdBy: "bench", comment: null });
const named = { id: randomUUID(), agentId, hash: hashSecret(apiKey), prefix: "ilk_", owner: "owner@acme.dev" };
await store.apiKeys.create({ ...named, mayActFor: null, createdAt });
const person = { email: "alice@acme.dev", roles: ["member"], groups: [], name: null } as const;
await store.people.upsert({ ...person, createdAt, disabledAt: null });
const ours = await startServer({ port: 0, store, logLevel: "silent" });

const pool = new pg.Pool({ connectionString: url, max: POOL });
await pool.query(`CREATE TABLE ${schema}.bare (id bigserial PRIMARY KEY, entry text NOT NULL)`);
const app = new Hono().post("/", async (c) => {
  const body = await c.req.json();
  const { rows } = await pool.query(`INSERT INTO ${schema}.bare (entry) VALUES ($1) RETURNING id`, [
    JSON.stringify(body),
  ]);
  return c.json({ id: rows[0].id });
});
const bare = createServer(getRequestListener(app.fetch)).listen(0, "127.0.0.1", () => {
  const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
  process.stdout.write(`${JSON.stringify({ url: ours.url, bareUrl, apiKey })}\n`);
});

process.stdin.resume().once("end", async () => {
  bare.close();
  bare.closeAllConnections();
  await pool.query(`DROP SCHEMA ${schema} CASCADE`);
  await pool.end();
  await ours.close();
});
