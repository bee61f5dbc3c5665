import { describe, expect, test } from "vitest";
import { NOW_MS } from "../../../test/store-builders.ts";
import { createWebhookSecret, signWebhook, type WebhookHeaders } from "./sign-webhook.ts";
import { verifyWebhook } from "./verify-webhook.ts";

const message = {
  event: "hold.pending",
  holdId: "hold-1",
  kind: "call",
  planId: "plan-1",
  agentId: "agent-1",
  tool: "send_money",
  user: "alice@acme.dev",
  expiresAt: NOW_MS / 1000 + 300,
  inboxUrl: "https://lock.acme.dev/?hold=hold-1",
};
const body = JSON.stringify(message);
const secret = createWebhookSecret();
const headers = signWebhook(body, { id: "msg-1", nowSeconds: NOW_MS / 1000, secret });
const now = NOW_MS;

describe("what a webhook received", () => {
  test("is signed as Standard Webhooks are", () => {
    // The example of the specification's reference implementations.
    const signed = signWebhook('{"test": 2432232314}', {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      nowSeconds: 1_614_265_330,
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    });
    expect(signed["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  test.each<[string, Parameters<typeof verifyWebhook>[1]]>([
    ["headers as Node.js has them", { ...headers }],
    ["headers of a request", new Headers({ ...headers })],
    ["one of several signatures", { ...headers, "webhook-signature": `v1a,x v1,AAAA ${headers["webhook-signature"]}` }],
  ])("is valid with %s", (_name, given) => {
    expect(verifyWebhook(body, given, secret, { now })).toEqual({ valid: true, message });
  });

  test("is valid while one secret is replaced by another", () => {
    expect(verifyWebhook(body, { ...headers }, [createWebhookSecret(), secret], { now }).valid).toBe(true);
  });

  test("may come from a later version of the server", () => {
    const text = JSON.stringify({ ...message, later: 1 });
    const given = { ...signWebhook(text, { id: "1", nowSeconds: now / 1000, secret }) };
    expect(verifyWebhook(text, given, secret, { now })).toEqual({ valid: true, message });
  });

  const over = (changed: Partial<WebhookHeaders>): Record<string, string> => ({ ...headers, ...changed });
  const [, signature = ""] = headers["webhook-signature"].split(",");
  test.each<[string, string, Record<string, string | readonly string[]>]>([
    ["another body", body.replace("send_money", "read_file"), over({})],
    ["a body that was printed again", JSON.stringify(message, null, 1), over({})],
    ["another id", body, over({ "webhook-id": "msg-2" })],
    ["another time", body, over({ "webhook-timestamp": String(now / 1000 + 1) })],
    ["a dot that moved", `1.${body}`, over({ "webhook-timestamp": headers["webhook-timestamp"].slice(0, -2) })],
    ["a time that is none", body, over({ "webhook-timestamp": `${headers["webhook-timestamp"]}.0` })],
    ["a time below 0", body, over({ "webhook-timestamp": "-1" })],
    ["no signature", body, over({ "webhook-signature": "" })],
    ["an empty signature", body, over({ "webhook-signature": "v1," })],
    ["a part of the signature", body, over({ "webhook-signature": `v1,${signature.slice(0, 20)}` })],
    ["a signature of another version", body, over({ "webhook-signature": `v2,${signature}` })],
    ["a signature without its version", body, over({ "webhook-signature": signature })],
    ["two headers in one", body, { ...headers, "webhook-signature": [headers["webhook-signature"]] }],
    [
      "a header without end",
      body,
      over({ "webhook-signature": `${"v1,AAAA ".repeat(1000)}${headers["webhook-signature"]}` }),
    ],
    ["nothing", body, {}],
  ])("is not valid with %s", (_name, text, given) => {
    expect(verifyWebhook(text, given, secret, { now })).toMatchObject({ valid: false });
  });

  test("is not valid under another secret", () => {
    expect(verifyWebhook(body, { ...headers }, createWebhookSecret(), { now }).valid).toBe(false);
    expect(verifyWebhook(body, { ...headers }, [], { now }).valid).toBe(false);
  });

  test.each([
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ])("by a clock that is %d seconds off: %s", (seconds, isValid) => {
    expect(verifyWebhook(body, { ...headers }, secret, { now: now + seconds * 1000 }).valid).toBe(isValid);
  });

  test.each([
    "",
    "[]",
    "{}",
    '{"event":"hold.pending","event":"hold.decided"}',
    JSON.stringify({ ...message, event: "x" }),
  ])("is not valid if it says %j", (text) => {
    const given = { ...signWebhook(text, { id: "1", nowSeconds: now / 1000, secret }) };
    expect(verifyWebhook(text, given, secret, { now }).valid).toBe(false);
  });

  test.each(["", "whsec_", "secret", "whsec_AAAA", secret.slice(6), `${secret}!`])(
    "is not looked at with the secret %j",
    (wrong) => {
      expect(() => verifyWebhook(body, { ...headers }, wrong, { now })).toThrow(TypeError);
    },
  );
});
