import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { CSRF_HEADER, SESSION_COOKIE } from "../src/core/api/index.ts";
import type { Role } from "../src/core/index.ts";
import type { ServerContext } from "../src/server/handler.ts";
import { createSecret, hashSecret } from "../src/server/secret.ts";
import { openStore, type Store, type WebSession } from "../src/server/store/index.ts";
import { ALICE, KEY } from "./builders.ts";
import { BOB, NOW_MS } from "./store-builders.ts";

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
  const times = { createdAt: NOW_MS, expiresAt: NOW_MS + 3_600_000, lastSeenAt: NOW_MS };
  const session = { hash: hashSecret(token), email, csrf: `csrf ${randomUUID()}`, ...times, ...over };
  await store.signIn.addSession(session);
  return { ...session, token };
}

/** What a browser sends that is signed in: by a page of the server unless told otherwise. */
export function aRequest(
  session: TestSession,
  { method = "POST", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Request {
  const own = { cookie: `${SESSION_COOKIE}=${session.token}`, [CSRF_HEADER]: session.csrf, origin: SERVER };
  return new Request(`${SERVER}/v1/inbox`, { method, headers: { ...own, ...headers } });
}
