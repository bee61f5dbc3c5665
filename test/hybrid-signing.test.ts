import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { generateSigningKey } from "../src/core/index.ts";
import { HybridGate } from "../src/gates/hybrid.ts";
import { aSignRequest } from "./gate-conformance.ts";
import { aFolder } from "./server-gates.ts";
import { aServer, PUBLIC_URL, type ServerUnderTest } from "./servers.ts";

type Change = (body: Record<string, unknown>) => object;

/** What `sign` comes to when what is asked of the server, or what it answers, is changed on the way. */
async function signChanged({ asked, answered }: { readonly asked?: Change; readonly answered?: Change }) {
  const under: ServerUnderTest = await aServer();
  onTestFinished(() => under.close());
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return await under.server.fetch(request);
    const given = (await request.json()) as Record<string, unknown>;
    const { url, method, headers } = request;
    const body = JSON.stringify(asked?.(given) ?? given);
    const answer = await under.server.fetch(new Request(url, { method, headers, body }));
    const said = (await answer.json()) as Record<string, unknown>;
    return Response.json(answered?.(said) ?? said, { status: answer.status });
  };
  const outbox = join(await aFolder(), "outbox.db");
  const gate = new HybridGate({
    baseUrl: PUBLIC_URL,
    apiKey: under.agent.apiKey,
    clock: under.clock.now,
    fetch,
    outbox,
  });
  onTestFinished(() => gate.close());
  return await gate.sign(aSignRequest());
}

const { publicKey: otherKey } = await generateSigningKey();

test("a plan that is signed as it was asked is taken", async () => {
  expect(await signChanged({})).toMatchObject({ plan: aSignRequest().plan });
});

test.each<[string, Change]>([
  ["another plan", (body) => ({ ...body, plan: { goal: "Pay the attacker", steps: [{ tool: "send_money" }] } })],
  [
    "other tools",
    ({ tools, ...body }) => ({ ...body, tools: { ...(tools as object), other_tool: `sha256:${"0".repeat(64)}` } }),
  ],
  ["another client's key", (body) => ({ ...body, clientKey: otherKey })],
  ["no client's key", ({ clientKey: _, ...body }) => body],
])("a server that has signed %s has signed nothing", async (_name, asked) => {
  await expect(signChanged({ asked })).rejects.toMatchObject({
    code: "ERR_INVALID_CLAIMS",
    message: "The server has signed something else than was asked",
  });
});

test.each<[string, Change, string]>([
  ["under another id", (body) => ({ ...body, planId: "plan-2" }), "not the one that its answer says it is"],
  ["for another time", (body) => ({ ...body, expiresAt: 1 }), "not the one that its answer says it is"],
  ["with another signature", ({ token, ...body }) => ({ ...body, token: forge(`${token}`) }), "token is not valid"],
  ["as text that is no token", (body) => ({ ...body, token: "a.b.c" }), "cannot be read"],
])("a token that comes %s is none", async (_name, answered, message) => {
  await expect(signChanged({ answered })).rejects.toMatchObject({
    code: "ERR_INVALID_CLAIMS",
    message: expect.stringContaining(message),
  });
});

function forge(token: string): string {
  const [header, payload] = token.split(".");
  return `${header}.${payload}.${"A".repeat(86)}`;
}
