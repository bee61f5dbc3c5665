/**
 * What the first part of an inbox costs with 1,000 holds that wait and 5,000 that are decided, over SQLite and, with
 * `INTENTLOCK_TEST_DATABASE_URL`, PostgreSQL: for who may decide all, few or none of them.
 * Run: `node bench/inbox.ts`. See README.md.
 */
import { randomUUID } from "node:crypto";
import type { Role } from "../src/core/index.ts";
import { createServer } from "../src/server/create-server.ts";
import { nameSessionCookie } from "../src/server/people/session-cookie.ts";
import { createSecret, hashSecret } from "../src/server/secret.ts";
import type { Store } from "../src/server/store/index.ts";
import { addPlan, aHold, BOB } from "../test/store-builders.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL, type TestDatabase } from "../test/stores.ts";
import { median } from "./check/measure.ts";

const ROUNDS = 21;
const PENDING = 1000;
const DECIDED = 5000;
const PLANS = 200;
const TARGET_MS = 300;
const PUBLIC_URL = "https://lock.acme.dev";

const APPROVER = "carol@acme.dev";
const FEW = "dave@acme.dev";
const ROOT = "root@acme.dev";

async function fill(store: Store): Promise<void> {
  const people: Record<string, readonly Role[]> = { [APPROVER]: ["approver"], [FEW]: ["member"], [ROOT]: ["admin"] };
  const createdAt = Date.now();
  for (const [email, roles] of Object.entries(people)) {
    await store.people.upsert({ email, roles, groups: [], createdAt, disabledAt: null });
  }
  const plans = await Promise.all(Array.from({ length: PLANS }, () => addPlan(store, { createdAt })));
  for (let index = 0; index < PENDING + DECIDED; index += 1) {
    const plan = plans[index % PLANS] as (typeof plans)[number];
    // Of those that wait, ten are for one person, and they end last.
    const isPending = index < PENDING;
    const approvers = isPending && index >= PENDING - 10 ? { emails: [FEW] } : { roles: ["approver" as const] };
    const args = { to: "landlord", amount: index, note: "Rent of the month. ".repeat(20) };
    const times = { createdAt, expiresAt: createdAt + 86_400_000 + index };
    const hold = aHold(plan, {
      id: randomUUID(),
      decisionSeq: index + 1,
      digest: `sha256:${index}`,
      args,
      approvers,
      ...times,
    });
    const { outcome } = await store.holds.open(hold, { maxHolds: PENDING + DECIDED });
    if (outcome !== "opened") throw new Error(`a hold was not opened: ${outcome}`);
    if (!isPending)
      await store.holds.decide(hold.id, { status: "rejected", by: APPROVER, comment: null, now: createdAt + index });
  }
}

async function run(name: string, database: TestDatabase): Promise<boolean> {
  try {
    const store = await database.open();
    await fill(store);
    return await measure(name, store);
  } finally {
    await database.drop();
  }
}

async function measure(name: string, store: Store): Promise<boolean> {
  const server = createServer({ store, publicUrl: PUBLIC_URL, inbox: false });
  const cookies = new Map<string, string>();
  for (const email of [APPROVER, FEW, ROOT, BOB]) {
    const [token, now] = [createSecret(), Date.now()];
    const times = { createdAt: now, lastSeenAt: now, expiresAt: now + 3_600_000 };
    if (email === BOB)
      await store.people.upsert({ email, roles: ["member"], groups: [], createdAt: now, disabledAt: null });
    await store.signIn.addSession({ hash: hashSecret(token), email, csrf: "csrf", linkBy: "cli:bench", ...times });
    cookies.set(email, `${nameSessionCookie(PUBLIC_URL)}=${token}`);
  }
  let isGood = true;
  for (const [what, email, path] of [
    ["waiting, all of them", APPROVER, "/v1/inbox"],
    ["waiting, all of them, 1,000 at once", APPROVER, "/v1/inbox?limit=1000"],
    ["waiting, the last ten", FEW, "/v1/inbox"],
    ["waiting, none", BOB, "/v1/inbox"],
    ["rejected, all of them", ROOT, "/v1/inbox?status=rejected"],
    ["rejected, none", BOB, "/v1/inbox?status=rejected"],
  ] as const) {
    const times: number[] = [];
    let count = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = performance.now();
      const request = new Request(`${PUBLIC_URL}${path}`, { headers: { cookie: cookies.get(email) ?? "" } });
      const answer = (await (await server.fetch(request)).json()) as { holds: unknown[] };
      times.push(performance.now() - started);
      count = answer.holds.length;
    }
    const ms = median(times);
    if (ms > TARGET_MS) isGood = false;
    console.log(
      `${name.padEnd(11)} ${what.padEnd(36)} ${String(count).padStart(5)} holds  ${ms.toFixed(1).padStart(6)} ms`,
    );
  }
  await server.close();
  return isGood;
}

let isGood = await run("SQLite", await createSqliteDatabase());
if (POSTGRES_URL !== undefined) isGood = (await run("PostgreSQL", await createPostgresDatabase())) && isGood;
if (!isGood) process.exitCode = 1;
console.log(`${isGood ? "under" : "NOT under"} ${TARGET_MS} ms at the median of ${ROUNDS}`);
