import { randomUUID } from "node:crypto";
import type { SignPlanBody } from "../src/core/api/index.ts";
import { digest, digestCall, type PlanClaims, type PublicKey, type Spent, signPlanToken } from "../src/core/index.ts";
import type { GateCall } from "../src/gates/gate.ts";
import type { Fetch } from "../src/gates/remote/server-client.ts";
import { AGENT, ALICE, aPlan, aPolicy, KEY } from "./builders.ts";
import { TestClock } from "./clock.ts";
import { aScriptedServer, type Script } from "./scripted-server.ts";

/** A request, as method and path, and the JSON of its body. */
export interface Asked {
  readonly line: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was asked.
  readonly body: any;
}

export interface SigningServerSetup {
  /** What the server answers, where that is not what a server that works would. */
  readonly script?: Script;
  /** What its tokens say, where that is not what was asked for. */
  readonly claims?: Partial<PlanClaims>;
  readonly ttlSeconds?: number;
}

/** What a {@link aSigningServer} says of a plan that is to go on. */
export interface Resumed {
  used: number[];
  spent: Spent;
  seq: number;
  head: string | null;
  openHolds: object[];
}

export interface SigningServer {
  readonly clock: TestClock;
  readonly asked: Asked[];
  readonly resumed: Resumed;
  /** The next request of this kind gets no answer. */
  readonly lose: (line: string) => void;
  /** What happens while an answer is on its way. */
  onAnswer: ((line: string) => void) | undefined;
  /** The bodies of the requests of one kind. */
  readonly bodiesOf: (line: string) => readonly Asked["body"][];
  readonly fetch: Fetch;
}

/**
 * A server of one agent that signs `plan-1`, `plan-2` and so on with {@link KEY}, without a store: what it says of a plan that
 * goes on is what `resumed` says. It goes by its clock.
 */
export function aSigningServer({ script = {}, claims = {}, ttlSeconds = 900 }: SigningServerSetup = {}): SigningServer {
  const clock = new TestClock();
  const asked: Asked[] = [];
  const plans: SignPlanBody[] = [];
  const resumed: Resumed = { used: [0], spent: { calls: 0, payoutMicros: 0 }, seq: 0, head: null, openHolds: [] };

  const sign = async (planId: string, clientKey?: PublicKey): Promise<object> => {
    const { plan, tools, task } = plans[Number(planId.slice(5)) - 1] as SignPlanBody & { plan: PlanClaims["plan"] };
    const iat = Math.floor(clock.now() / 1000);
    const exp = iat + ttlSeconds;
    const user = { email: ALICE, roles: [], groups: [] };
    const signed = { iss: "server", aud: AGENT, sub: ALICE, jti: randomUUID(), iat, exp, planId, plan, user, tools };
    const facts = { policy: aPolicy(), task: digest(task, "task"), ...(clientKey && { cnf: { jwk: clientKey } }) };
    const token = await signPlanToken({ ...signed, ...facts, ...claims }, KEY);
    return { planId, plan, token, expiresAt: exp, serverTime: clock.now() };
  };

  const answer: Script[string] = async (request) => {
    const { line, body } = asked.at(-1) as Asked;
    const [, planId = ""] = /\/(plan-\d+)/.exec(line) ?? [];
    switch (line.replace(/plan-\d+/, ":id")) {
      case "GET /.well-known/jwks.json":
        return Response.json({ keys: [KEY.publicKey] });
      case "POST /v1/plans":
        plans.push(body as SignPlanBody);
        return Response.json(await sign(`plan-${plans.length}`, body.clientKey), { status: 201 });
      case "POST /v1/plans/:id/refresh":
        return Response.json(await sign(planId, plans.at(-1)?.clientKey), { status: 201 });
      case "GET /v1/plans/:id": {
        const { plan, task } = plans.at(-1) as SignPlanBody;
        const moment = { createdAt: clock.now(), seq: resumed.seq };
        return Response.json({ planId, status: "open", agentId: AGENT, user: ALICE, task, plan, ...moment });
      }
      case "POST /v1/plans/:id/resume": {
        const more = { leaseUntil: clock.now() + 60_000, taskDigest: digest(plans.at(-1)?.task, "task"), ...resumed };
        return Response.json({ ...(await sign(planId, body.clientKey)), ...more });
      }
      case "POST /v1/plans/:id/lease":
        return Response.json({ leaseUntil: clock.now() + 60_000 });
      case "POST /v1/outcomes":
        return Response.json({ recorded: true });
      case "POST /v1/holds":
        return Response.json({ holdId: "hold-1", status: "pending", expiresAt: 2_000_000_000 }, { status: 201 });
      default:
        throw new TypeError(`nothing answers ${request.method} ${request.url}`);
    }
  };

  const server = aScriptedServer({ "*": answer, ...script });
  const lost: string[] = [];
  const answering: SigningServer = {
    clock,
    asked,
    resumed,
    onAnswer: undefined,
    lose: (line: string) => void lost.push(line),
    bodiesOf: (line: string) => asked.filter((one) => one.line === line).map(({ body }) => body),
    fetch: async (request) => {
      const text = await request.clone().text();
      const line = `${request.method} ${new URL(request.url).pathname}`;
      asked.push({ line, body: text === "" ? undefined : JSON.parse(text) });
      if (lost.includes(line)) throw new TypeError(`reset ${lost.splice(lost.indexOf(line), 1)}`);
      const answer = await server.fetch(request);
      answering.onAnswer?.(line);
      return answer;
    },
  };
  return answering;
}

/** Answers checks with this decision, about the call that was asked about, and numbers them. */
export function decideAll(decision: object): Script[string] {
  let seq = 0;
  return async (request) => {
    const { planId, call, peek } = (await request.json()) as { planId: string; call: GateCall; peek?: boolean };
    const about = { callId: call.callId, tool: call.tool, planId, digest: digestCall(call as never) };
    return Response.json({ decision: { ...decision, ...about, ...(peek ? {} : { seq: ++seq }) } });
  };
}

export const ALLOW: object = { verdict: "allow", step: 0, rule: "allow-in-plan", budgetRemaining: null };

/** What a server says of a plan that goes on, and that nobody has asked about. */
export function anotherPlan(): object {
  const signed = { planId: "plan-2", plan: aPlan(), token: "t", expiresAt: 1, serverTime: 1 };
  const resumed = { leaseUntil: 1, taskDigest: digest("", "task"), used: [0], spent: { calls: 0, payoutMicros: 0 } };
  return { ...signed, ...resumed, seq: 0, head: null, openHolds: [] };
}
