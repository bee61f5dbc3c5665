import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { AgentSettings } from "../src/core/api/index.ts";
import { fingerprintTool, type Policy, type PolicyRule, type Role, signApprovalToken } from "../src/core/index.ts";
import { createServer, type IntentlockServer, type ServerOptions } from "../src/server/create-server.ts";
import { createSecret, hashSecret } from "../src/server/secret.ts";
import { type NewApiKey, openStore, type Store } from "../src/server/store/index.ts";
import { ALICE, aPolicy, aRule } from "./builders.ts";
import { TestClock } from "./clock.ts";
import { BOB } from "./store-builders.ts";

export const PUBLIC_URL = "https://intentlock.test";

/** An agent of a server under test. */
export interface TestAgent {
  readonly agentId: string;
  readonly name: string;
  readonly apiKey: string;
  readonly keyId: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered.
  readonly body: any;
}

export interface Ask {
  readonly body?: unknown;
  /** `null`: none. */
  readonly apiKey?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A server in this process, with people, and an agent that has a policy and a key. */
export interface ServerUnderTest {
  readonly server: IntentlockServer;
  readonly store: Store;
  readonly clock: TestClock;
  readonly agent: TestAgent;
  /** As the agent, unless told otherwise. */
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
  close(): Promise<void>;
}

export interface ServerSetup {
  /** A new one in memory unless given. */
  readonly store?: Store;
  readonly clock?: TestClock;
  readonly policy?: Policy | string;
  readonly settings?: AgentSettings;
  /** Beside alice, a member, and bob, an approver and the admin `root@acme.dev`. */
  readonly people?: Readonly<Record<string, { readonly roles?: readonly Role[]; readonly groups?: readonly string[] }>>;
  /** Of the agent's key. */
  readonly owner?: string;
  readonly keyName?: string;
  readonly mayActFor?: readonly string[] | null;
  readonly log?: Logger;
  readonly rateLimits?: ServerOptions["rateLimits"];
  /** None unless told: what was built is no matter of these tests. */
  readonly inbox?: ServerOptions["inbox"];
}

export const ROOT = "root@acme.dev";

const PEOPLE: NonNullable<ServerSetup["people"]> = {
  [ALICE]: { roles: ["member"] },
  [BOB]: { roles: ["approver"] },
  [ROOT]: { roles: ["admin"] },
};

export async function aServer(setup: ServerSetup = {}): Promise<ServerUnderTest> {
  const clock = setup.clock ?? new TestClock();
  const store = setup.store ?? (await openStore({ sqlite: ":memory:" }));
  await addServerPeople(store, { ...setup, clock });
  const agent = await anAgent(store, setup);
  const server = createServer({
    store,
    publicUrl: PUBLIC_URL,
    inbox: setup.inbox ?? false,
    clock: clock.now,
    log: setup.log,
    rateLimits: setup.rateLimits,
  });
  return {
    server,
    store,
    clock,
    agent,
    ask: (method, path, ask) => askServer(server, method, path, { apiKey: agent.apiKey, ...ask }),
    close: () => server.close(),
  };
}

/** Alice, Bob and the admin, and whom the set-up names. */
export async function addServerPeople(
  store: Store,
  { clock, people }: Pick<ServerSetup, "clock" | "people">,
): Promise<void> {
  const createdAt = (clock ?? new TestClock()).now();
  for (const [email, { roles = [], groups = [] }] of Object.entries({ ...PEOPLE, ...people })) {
    await store.people.upsert({ email, roles, groups, createdAt, disabledAt: null });
  }
}

/** One more agent, with a key and a policy of its own. */
export async function anAgent(store: Store, setup: ServerSetup & { readonly name?: string } = {}): Promise<TestAgent> {
  const { settings = {}, policy = aPolicy(), owner = ROOT, mayActFor = null, keyName } = setup;
  const createdAt = (setup.clock ?? new TestClock()).now();
  const agentId = randomUUID();
  const name = setup.name ?? `agent ${agentId}`;
  await store.agents.create({ id: agentId, name, settings, createdAt });
  const text = typeof policy === "string" ? policy : JSON.stringify(policy);
  await store.policies.push({ agentId, text, createdAt, createdBy: ROOT, comment: null });
  return { agentId, name, ...(await aKey(store, agentId, { owner, mayActFor, createdAt, name: keyName })) };
}

/** One more key of an agent. */
export async function aKey(
  store: Store,
  agentId: string,
  options: Partial<Pick<NewApiKey, "owner" | "mayActFor" | "createdAt">> & { readonly name?: string | undefined } = {},
): Promise<{ readonly apiKey: string; readonly keyId: string }> {
  const { owner = ROOT, mayActFor = null, createdAt = new TestClock().now(), name = null } = options;
  const apiKey = createSecret("ilk_");
  const keyId = randomUUID();
  const secret = { hash: hashSecret(apiKey), prefix: apiKey.slice(0, 8) };
  await store.apiKeys.create({ id: keyId, agentId, ...secret, owner, mayActFor, createdAt, name });
  return { apiKey, keyId };
}

/** Asks a server without a socket. */
export async function askServer(
  server: IntentlockServer,
  method: string,
  path: string,
  { body, apiKey = null, headers, signal }: Ask = {},
): Promise<Answer> {
  const request = new Request(`${PUBLIC_URL}${path}`, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const response = await server.fetch(request);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

export const TOOLS: readonly string[] = ["send_money", "read_file", "post_comment"];

/** Of a tool of a plan in tests. */
export function toolFingerprint(name: string): string {
  return fingerprintTool({ name, description: `Does ${name}`, inputSchema: { type: "object" } });
}

/** The body that signs a plan of one step for Alice, unless told otherwise. */
export function aSignBody(over: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    user: ALICE,
    task: { instruction: "Pay the rent" },
    plan: { goal: "Pay the rent", steps: [{ tool: "send_money" }] },
    tools: Object.fromEntries(TOOLS.map((name) => [name, toolFingerprint(name)])),
    ...over,
  };
}

/** A plan that was signed: what the server answered. */
export interface TestPlan {
  readonly planId: string;
  readonly token: string;
  readonly expiresAt: number;
}

/** Has a plan signed. */
export async function signedPlan(
  { ask }: Pick<ServerUnderTest, "ask">,
  over: Readonly<Record<string, unknown>> = {},
): Promise<TestPlan> {
  const { status, body } = await ask("POST", "/v1/plans", { body: aSignBody(over) });
  if (status !== 201) throw new Error(`the plan was not signed: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The body that asks about a call of a tool as it was when the plan was signed. */
export function aCheckBody(
  { planId, token }: TestPlan,
  call: Readonly<Record<string, unknown>> = {},
  over: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const tool = String(call["tool"] ?? "send_money");
  const args = { to: "landlord", amount: 20 };
  return {
    planId,
    token,
    call: { callId: "call-1", tool, args, fingerprint: toolFingerprint(tool), ...call },
    ...over,
  };
}

/** A policy that holds comments for approvers, and allows what else is planned. */
export function aHoldPolicy(over: Readonly<Partial<PolicyRule>> = {}): Policy {
  const hold = { id: "hold-comments", match: { tool: "post_comment" }, decision: "hold" } as const;
  return aPolicy(aRule({ ...hold, approvers: { roles: ["approver"] }, reason: "Others read it", ...over }), aRule());
}

/** A plan whose comments are held. */
export const COMMENTS: Readonly<Record<string, unknown>> = {
  plan: { goal: "Comment", steps: [{ tool: "post_comment" }, { tool: "send_money" }] },
};

/** Approves a hold of a call as Bob, without asking whether he may: the approval token. */
export async function approveHold({ server, store, clock }: ServerUnderTest, holdId: string): Promise<string> {
  const hold = await store.holds.get(holdId);
  if (!hold) throw new Error("there is no such hold");
  const iat = Math.floor(clock.now() / 1000);
  const { agentId: aud, planId, tool, rule, digest, fingerprint } = hold;
  const action = { tool: tool ?? "", rule: rule ?? "", digest, ...(fingerprint !== null && { fingerprint }) };
  const claims = { iss: PUBLIC_URL, aud, jti: randomUUID(), iat, exp: iat + 300, holdId, planId, ...action };
  const approval = await signApprovalToken({ ...claims, approvedBy: BOB }, await server.context.keys.signingKey());
  const decision = { status: "approved", approval, approvalExpiresAt: claims.exp * 1000 } as const;
  const decided = await store.holds.decide(holdId, { ...decision, by: BOB, comment: null, now: clock.now() });
  if (!decided) throw new Error("the hold was decided before");
  return approval;
}
