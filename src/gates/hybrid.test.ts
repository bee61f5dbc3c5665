import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AGENT, anApproval, aPlan, KEY, NOW, summarize } from "../../test/builders.ts";
import { aGateCall, aSignRequest } from "../../test/gate-conformance.ts";
import { ASK_POLICY, aHybridGate, SERVER_URL } from "../../test/hybrid-gates.ts";
import { aProblem } from "../../test/scripted-server.ts";
import { generateSigningKey, signApprovalToken, signReceipt, verifyChain } from "../core/index.ts";
import type { HybridGateOptions } from "./hybrid.ts";

const SIGN = "POST /v1/plans";
const REFRESH = "POST /v1/plans/plan-1/refresh";
const DIGEST = `sha256:${"0".repeat(64)}`;

describe("a plan that is signed", () => {
  test("is known to the outbox with whose it is and the key for its entries, before its signing is on record", async () => {
    const { server, outbox, sign } = aHybridGate();
    const plan = await sign();
    expect(plan).toMatchObject({ planId: "plan-1", plan: aPlan(), expiresAt: NOW + 900 });
    const [{ clientKey }] = server.bodiesOf(SIGN);
    const target = `${SERVER_URL} ${AGENT}`;
    const begun = { planId: "plan-1", upload: true, target, clientKey: { ...clientKey, d: expect.any(String) } };
    expect(outbox.begun).toEqual([begun]);
    expect(outbox.uploads).toMatchObject([{ target }]);
    expect(outbox.entries).toMatchObject([{ planId: "plan-1", event: { type: "plan_signed", token: plan.token } }]);
    expect(JSON.stringify(server.asked)).not.toContain(outbox.begun[0]?.clientKey?.d);
  });

  test("has a key of its own, and all of a gate share one uploader", async () => {
    const { outbox, sign } = aHybridGate();
    await sign();
    await sign();
    const [one, two] = outbox.begun.map(({ clientKey }) => clientKey?.x);
    expect([one === two, outbox.uploads.length]).toEqual([false, 1]);
  });

  test("is none if the outbox cannot be opened: the server is not asked", async () => {
    const { server, sign } = aHybridGate({}, { outbox: import.meta.dirname });
    await expect(sign()).rejects.toMatchObject({ code: "ERR_OUTBOX" });
    expect(server.asked).toEqual([]);
  });

  test("is none if it is not what was asked for", async () => {
    const { gate, outbox, sign } = aHybridGate({ claims: { plan: aPlan({ tool: "read_file" }) } });
    await expect(sign()).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
    expect([outbox.begun, outbox.entries]).toEqual([[], []]);
    const plan = { planId: "plan-1", plan: aPlan(), token: "t", expiresAt: 0 };
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("block:invalid_token");
  });

  test("is none if the outbox does not take it", async () => {
    const { outbox, sign } = aHybridGate();
    outbox.begin = () => Promise.reject(new Error("disk full"));
    await expect(sign()).rejects.toThrow("disk full");
    expect(outbox.entries).toEqual([]);
  });

  test("by a key that is pinned counts, and no others are asked for", async () => {
    const { server, sign } = aHybridGate({}, { keys: [KEY.publicKey] });
    expect(await sign()).toMatchObject({ planId: "plan-1" });
    expect(server.bodiesOf("GET /.well-known/jwks.json")).toEqual([]);
  });

  test("by another key than the pinned one is none", async () => {
    const { publicKey } = await generateSigningKey();
    const { outbox, sign } = aHybridGate({}, { keys: [publicKey] });
    await expect(sign()).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
    expect(outbox.begun).toEqual([]);
  });

  describe("and that a person has to see", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    test.each<[string, Partial<HybridGateOptions>, number]>([
      ["five minutes", {}, 300],
      ["as long as is said", { planTimeoutMs: 7000 }, 7],
    ])("is waited for, %s", async (_name, over, expected) => {
      let waited = 0;
      const pending = { planId: "plan-1", status: "pending", holdId: "hold-1", serverTime: NOW * 1000 };
      const script = {
        [SIGN]: () => Response.json(pending, { status: 202 }),
        "GET /v1/holds/hold-1": async ({ url }: Request) => {
          const seconds = Number(new URL(url).searchParams.get("waitSeconds"));
          waited += seconds;
          await vi.advanceTimersByTimeAsync(seconds * 1000);
          return Response.json({ holdId: "hold-1", expiresAt: NOW, status: "pending" });
        },
      };
      const { sign } = aHybridGate({ script }, over);
      const refused = expect(sign()).rejects.toMatchObject({ code: "ERR_PLAN_REJECTED" });
      await vi.runAllTimersAsync();
      await refused;
      expect(waited).toBe(expected);
    });
  });
});

describe("a call", () => {
  test("is decided here, and on record here, without a question to the server", async () => {
    const { server, outbox, gate, sign } = aHybridGate();
    const plan = await sign();
    const count = server.asked.length;
    expect(await gate.check(plan, aGateCall())).toMatchObject({ verdict: "allow", seq: 1 });
    expect(summarize(await gate.peek(plan, aGateCall()))).toBe("allow");
    expect(server.asked).toHaveLength(count);
    expect(outbox.typesOf("plan-1")).toEqual(["plan_signed", "decision"]);
    expect(verifyChain(outbox.entries, "plan-1").problem).toBeUndefined();
  });

  test.each([
    [{}, true],
    [{ redact: true }, false],
  ])("is on record with its arguments, unless they are to be left out: %j", async (over, expected) => {
    const { outbox, gate, sign } = aHybridGate({}, over);
    await gate.check(await sign(), aGateCall({ args: { to: "SECRET" } }));
    expect(JSON.stringify(outbox.entries).includes("SECRET")).toBe(expected);
  });

  test("is decided by the server's time, whatever this machine's is", async () => {
    const { server, gate, sign } = aHybridGate({}, { clock: () => 0 });
    const plan = await sign();
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
    expect(server.asked.map(({ line }) => line)).not.toContain(REFRESH);
  });

  test.each<[string, Partial<HybridGateOptions>, string[]]>([
    ["the clock that it is given, which is right", {}, []],
    ["the clock of this machine, unless told", { clock: undefined }, ["clock_skew"]],
  ])("is decided by %s", async (_name, over, expected) => {
    const { troubles, sign } = aHybridGate({}, over);
    await sign();
    expect(troubles.map(({ code }) => code)).toEqual(expected);
  });

  test("with an approval is allowed once the server has taken that", async () => {
    const line = "POST /v1/holds/hold-1/claim";
    const { server, gate, sign } = aHybridGate({
      claims: { policy: ASK_POLICY },
      script: { [line]: () => Response.json({ claimed: true }) },
    });
    const plan = await sign();
    const call = aGateCall();
    const signed = { iss: "server", aud: AGENT, jti: "a", iat: NOW, tool: call.tool };
    const approval = await signApprovalToken({ ...anApproval(call, { rule: "ask" }), ...signed }, KEY);
    expect(await gate.check(plan, { ...call, approval })).toMatchObject({
      verdict: "allow",
      approvedBy: "bob@acme.dev",
    });
    expect(server.bodiesOf(line)).toEqual([{ approval }]);
  });

  test("takes of its person's budget what the server has reserved, and asks for that once", async () => {
    const line = "POST /v1/plans/plan-1/budget";
    const { server, gate, sign } = aHybridGate({
      claims: { budget: { principal: { calls: 40, windowSeconds: 3600 } } },
      script: { [line]: () => Response.json({ reserved: { calls: 2, payoutMicros: 0 } }) },
    });
    const plan = await sign();
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
    expect(server.bodiesOf(line)).toEqual([{ total: { calls: 2, payoutMicros: 0 } }]);
  });
});

describe("a token that is renewed", () => {
  test("is the server's new one, on record", async () => {
    const { server, outbox, gate, sign } = aHybridGate();
    const plan = await sign();
    server.clock.advance(10);
    const renewed = await gate.refresh(plan);
    expect(renewed).toMatchObject({ planId: "plan-1", expiresAt: NOW + 910 });
    expect(outbox.entries.at(-1)).toMatchObject({ event: { type: "refresh", token: renewed.token } });
  });

  test("leaves all tokens of the plan good, and those of no other plan", async () => {
    const { gate, sign } = aHybridGate();
    const plan = await sign();
    const other = await sign();
    const tokens = [plan.token];
    for (let times = 0; times < 3; times++) tokens.push((await gate.refresh(plan)).token);
    const verdicts = [];
    for (const token of [...tokens, other.token]) {
      verdicts.push(summarize(await gate.check({ ...plan, token }, aGateCall())));
    }
    expect(verdicts).toEqual(["allow", "allow", "allow", "allow", "block:invalid_token"]);
  });

  test("says of a clock that is off by now", async () => {
    const { server, gate, sign, troubles } = aHybridGate({}, { clock: () => NOW * 1000 });
    const plan = await sign();
    server.clock.advance(7200);
    await gate.refresh(plan);
    expect(troubles.map(({ code }) => code)).toEqual(["clock_skew"]);
  });

  test("of a plan without a listener is nobody's trouble", async () => {
    const { gate } = aHybridGate({ script: { [REFRESH]: () => aProblem("internal") } });
    const plan = await gate.sign(aSignRequest());
    await expect(gate.refresh(plan)).rejects.toMatchObject({ code: "ERR_SERVER_UNAVAILABLE" });
    expect(summarize(await gate.check(plan, aGateCall()))).toBe("allow");
  });

  test.each([
    ["plan_revoked", "ERR_PLAN_REVOKED", "block:plan_revoked"],
    ["api_key_rejected", "ERR_API_KEY_REJECTED", "block:api_key_rejected"],
    ["internal", "ERR_SERVER_UNAVAILABLE", "allow"],
    ["user_not_allowed", "ERR_UNKNOWN_USER", "allow"],
  ] as const)(
    "or not, for %s: its listener hears of it, and calls are from then on %s, %s",
    async (problem, code, next) => {
      const { outbox, gate, sign, troubles } = aHybridGate({ script: { [REFRESH]: () => aProblem(problem) } });
      const plan = await sign();
      await expect(gate.refresh(plan)).rejects.toMatchObject({ code });
      expect(troubles).toMatchObject([{ code: problem, message: expect.any(String), cause: { code } }]);
      expect(summarize(await gate.check(plan, aGateCall()))).toBe(next);
      // The block is on record, at the stage that it comes from.
      const [, event] = outbox.entries.map((entry) => entry.event);
      expect(event).toMatchObject({ type: "decision" });
      if (next !== "allow") expect(await gate.peek(plan, aGateCall())).toMatchObject({ stage: "gate" });
    },
  );
});

describe("the entries of a plan", () => {
  const audit = "POST /v1/audit";
  const bodies = ['{"seq":0}'];

  async function uploading(receipt: Parameters<typeof signReceipt>[0]) {
    const world = aHybridGate({ script: { [audit]: async () => Response.json({ receipt: await signed(), seq: 1 }) } });
    const signed = async (): Promise<string> => await signReceipt(receipt, KEY);
    await world.sign();
    const [options] = world.outbox.uploads;
    const [begun] = world.outbox.begun;
    const [from, to] = [null, DIGEST].map((prev, seq) => ({ planId: "plan-1", seq, prev }));
    if (!options || !begun?.clientKey || !from || !to) throw new Error("no upload");
    const batch = { planId: "plan-1", bodies, entries: [], from, to, clientKey: begun.clientKey };
    const send = async (signal = new AbortController().signal): Promise<string> =>
      await options.send(batch, { signal });
    return { ...world, options, send };
  }
  const receipt = { iss: "server", aud: AGENT, planId: "plan-1", seq: 1, head: DIGEST, receivedAt: NOW * 1000 };

  test("go to the server, whose receipt for this agent counts", async () => {
    const { server, send } = await uploading(receipt);
    expect(await send()).toBe(await signReceipt(receipt, KEY));
    expect(server.bodiesOf(audit)).toEqual([
      { planId: "plan-1", entries: [{ seq: 0 }], signature: expect.any(String) },
    ]);
  });

  test("are not with the server if the receipt is another agent's", async () => {
    const { send } = await uploading({ ...receipt, aud: "another" });
    await expect(send()).rejects.toMatchObject({ code: "ERR_AUDIT_UPLOAD" });
  });

  test("stop on their way when that is given up", async () => {
    const { server, send } = await uploading(receipt);
    await expect(send(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    expect(server.bodiesOf(audit)).toHaveLength(1);
  });

  test("that do not get there are their plan's trouble, and nobody else's", async () => {
    const { options, troubles } = await uploading(receipt);
    const error = new Error("disk full");
    const tell = (planId: string | undefined, cause: unknown): void =>
      options.onTrouble?.({ ...(planId !== undefined && { planId }), error: cause as Error, refused: false });
    tell("plan-1", error);
    tell("plan-1", "no error");
    tell("plan-9", error);
    tell(undefined, error);
    expect(troubles).toEqual([
      { code: "ERR_INTERNAL", message: "disk full", cause: error },
      { code: "ERR_INTERNAL", message: "The server could not be asked", cause: "no error" },
    ]);
  });
});
