import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { CSRF_HEADER } from "../src/core/api/index.ts";
import { digestCall, type Role } from "../src/core/index.ts";
import type { ServerContext } from "../src/server/handler.ts";
import { nameSessionCookie } from "../src/server/people/session-cookie.ts";
import { createSecret, hashSecret } from "../src/server/secret.ts";
import {
  type Hold,
  type NewHold,
  type NewPlan,
  openStore,
  type Store,
  type WebSession,
} from "../src/server/store/index.ts";
import { ALICE, KEY } from "./builders.ts";
import { addPlan, aHold, BOB, NOW_MS, type PlanInStore } from "./store-builders.ts";

/** Where the server of these tests is reached. */
export const SERVER = "https://lock.acme.dev";
export const CAROL = "carol@acme.dev";

/** What handlers work with, over a store in memory unless given one, with a clock that goes on when it is told to. */
export interface TestContext extends ServerContext {
  advance(milliseconds: number): void;
  /** Every line that was logged. */
  readonly logged: readonly string[];
}

export async function createContext(given?: Store): Promise<TestContext> {
  const store = given ?? (await openStore({ sqlite: ":memory:" }));
  const logged: string[] = [];
  let now = NOW_MS;
  return {
    store,
    clock: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    keys: { signingKey: async () => KEY, publicKeys: async () => [KEY.publicKey] },
    log: pino({ level: "trace" }, { write: (line: string) => logged.push(line) }),
    logged,
    publicUrl: SERVER,
  };
}

export async function addPerson(store: Store, email: string, roles: readonly Role[] = ["member"]): Promise<void> {
  await store.people.upsert({ email, roles, groups: [], createdAt: NOW_MS, disabledAt: null });
}

/** Alice, for whom agents act; Bob, who owns keys; Carol, who approves. */
export async function addPeople(store: Store): Promise<void> {
  await addPerson(store, ALICE);
  await addPerson(store, BOB);
  await addPerson(store, CAROL, ["approver"]);
}

/** A person's session, with the token that is in its cookie. */
export interface TestSession extends WebSession {
  readonly token: string;
}

export async function addSession(
  { store }: ServerContext,
  email: string,
  over: Partial<WebSession> = {},
): Promise<TestSession> {
  const token = createSecret();
  const times = { linkBy: "cli:root", createdAt: NOW_MS, expiresAt: NOW_MS + 3_600_000, lastSeenAt: NOW_MS };
  const session = { hash: hashSecret(token), email, csrf: `csrf ${randomUUID()}`, ...times, ...over };
  await store.signIn.addSession(session);
  return { ...session, token };
}

/** What a browser sends that is signed in: by a page of the server unless told otherwise. */
export function aRequest(
  session: TestSession,
  { method = "POST", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Request {
  const own = { cookie: `${nameSessionCookie(SERVER)}=${session.token}`, [CSRF_HEADER]: session.csrf, origin: SERVER };
  return new Request(`${SERVER}/v1/inbox`, { method, headers: { ...own, ...headers } });
}

/** A hold of a call under a plan for Alice, by an agent whose key is Bob's: one that Carol may decide. */
export async function addHold(
  store: Store,
  over: Partial<NewHold> = {},
  plan: Partial<NewPlan> = {},
): Promise<{ readonly hold: Hold; readonly plan: PlanInStore }> {
  const added = await addPlan(store, plan);
  const { tool, args } = { ...aHold(added), ...over };
  const fingerprint = `sha256:${"a".repeat(64)}`;
  const digest = tool === null ? `sha256:${"b".repeat(64)}` : digestCall({ tool, args });
  const { hold } = await store.holds.open(aHold(added, { fingerprint, digest, ...over }), { maxHolds: 20 });
  return { hold: hold!, plan: added };
}

/** A hold of a whole plan, that has no decision yet. */
export async function addPlanHold(store: Store): Promise<{ readonly hold: Hold; readonly plan: PlanInStore }> {
  const call = { decisionSeq: null, callId: null, tool: null, fingerprint: null, args: undefined };
  const rule = { step: null, rule: null, ruleReason: null, approvers: { roles: ["approver", "admin"] } } as const;
  return await addHold(store, { kind: "plan", ...call, ...rule }, { status: "pending", entries: [] });
}
