import { describe, expect, test, vi } from "vitest";
import { AGENT, KEY, NOW, PLAN_ID } from "../../../test/builders.ts";
import { endpoints } from "../../core/api/index.ts";
import { chainEntry, openBatch, type ReceiptClaims, signReceipt, startChain } from "../../core/index.ts";
import { generateSigningKey } from "../../core/signing-key.ts";
import { toBatch } from "../outbox/upload-batch.ts";
import { KeySet } from "./key-set.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError } from "./server-error.ts";
import { uploadBatch } from "./upload-batch.ts";

const CLIENT = await generateSigningKey();
const { entry, head } = chainEntry(startChain(PLAN_ID), { type: "closed" }, { at: NOW * 1000 });
const HEAD = head.prev as string;
const OTHER = `sha256:${"0".repeat(64)}`;
const TAKEN = {
  planId: PLAN_ID,
  clientKey: JSON.stringify(CLIENT.privateKey),
  from: 0,
  prev: null,
  head: HEAD,
  bodies: [JSON.stringify(entry)],
};

/** Uploads to a server that answers so. */
async function upload(answer: () => unknown, taken: object = {}) {
  const ask = vi.fn(async (_endpoint: unknown, _ask: { readonly text: string }) => await answer());
  const client = { ask } as unknown as ServerClient;
  const keys = new KeySet(client, [KEY.publicKey]);
  const { signal } = new AbortController();
  const uploading = uploadBatch({ client, keys, agent: AGENT }, toBatch({ ...TAKEN, ...taken }), signal);
  return { uploading, ask, signal };
}

async function receipt(over: Partial<ReceiptClaims> = {}, key = KEY): Promise<string> {
  const said = { iss: "server", aud: AGENT, planId: PLAN_ID, seq: 1, head: HEAD, receivedAt: NOW * 1000, ...over };
  return await signReceipt(said, key);
}

test("a batch goes as its texts, with a signature by the plan's client key", async () => {
  const given = await receipt();
  const { uploading, ask, signal } = await upload(() => ({ receipt: given }));
  expect(await uploading).toBe(given);
  const [endpoint, asked] = ask.mock.calls[0] ?? [];
  expect(endpoint).toBe(endpoints.uploadAudit);
  expect(asked).toEqual({ text: expect.any(String), signal });
  const body = JSON.parse(asked?.text ?? "") as { entries: []; planId: string; signature: string };
  expect(body).toEqual({ entries: [entry], planId: PLAN_ID, signature: expect.any(String) });
  expect(await openBatch(body.signature, CLIENT.publicKey, body.entries)).toMatchObject({ valid: true });
});

test("a batch in the middle of a chain says what it follows on", async () => {
  const prev = OTHER;
  const { ask, uploading } = await upload(() => ({ receipt: "" }), { from: 7, prev });
  await expect(uploading).rejects.toMatchObject({ code: "ERR_AUDIT_UPLOAD" });
  const body = JSON.parse(ask.mock.calls[0]?.[1].text ?? "") as { signature: string };
  const claims = JSON.parse(Buffer.from(body.signature.split(".")[1] ?? "", "base64url").toString()) as object;
  expect(claims).toEqual({ ver: 1, planId: PLAN_ID, from: 7, count: 1, prev, head: HEAD });
});

test("a batch of several entries is a list of them", async () => {
  const next = chainEntry(head, { type: "closed" }, { at: NOW * 1000 });
  const bodies = [entry, next.entry].map((one) => JSON.stringify(one));
  const given = await receipt({ seq: 2, head: next.head.prev as string });
  const { ask, uploading } = await upload(() => ({ receipt: given }), { bodies, head: next.head.prev });
  expect(await uploading).toBe(given);
  const { entries } = JSON.parse(ask.mock.calls[0]?.[1].text ?? "") as { entries: unknown };
  expect(entries).toEqual([entry, next.entry]);
});

test("without the plan's key nothing is sent, and never will be", async () => {
  const { uploading, ask } = await upload(() => ({}), { clientKey: null });
  await expect(uploading).rejects.toMatchObject({ code: "ERR_AUDIT_UPLOAD", status: 400 });
  expect(ask).not.toHaveBeenCalled();
});

describe("a receipt", () => {
  test("for more than was sent is one: somebody else has sent the rest", async () => {
    const given = await receipt({ seq: 5, head: OTHER });
    expect(await (await upload(() => ({ receipt: given }))).uploading).toBe(given);
  });

  test.each<[string, Partial<ReceiptClaims>]>([
    ["another plan", { planId: "plan-2" }],
    ["another plan, and more", { planId: "plan-2", seq: 5 }],
    ["another end of the same length", { head: OTHER }],
  ])("for %s is none", async (_name, over) => {
    const given = await receipt(over);
    const { uploading } = await upload(() => ({ receipt: given }));
    await expect(uploading).rejects.toMatchObject({
      code: "ERR_AUDIT_UPLOAD",
      status: undefined,
      message: "The server's receipt is for something else",
    });
  });

  test("for less than was sent is none", async () => {
    const given = await receipt({ seq: 7, head: HEAD });
    const { uploading } = await upload(() => ({ receipt: given }), { from: 7, prev: OTHER });
    await expect(uploading).rejects.toThrow("The server's receipt is for something else");
  });

  test.each<[string, () => Promise<string>]>([
    ["another agent", () => receipt({ aud: "agent-2" })],
    ["nobody, by another key", async () => await receipt({}, { ...(await generateSigningKey()) })],
    ["nobody, in no form at all", async () => "receipt"],
  ])("for %s is none", async (_name, make) => {
    const given = await make();
    const { uploading } = await upload(() => ({ receipt: given }));
    await expect(uploading).rejects.toMatchObject({
      code: "ERR_AUDIT_UPLOAD",
      message: expect.stringContaining("The server's receipt is not valid: "),
    });
  });
});

describe("trouble", () => {
  test("of the server is that of the upload, with its status and when to come again", async () => {
    const cause = new ServerError("ERR_SERVER_UNAVAILABLE", "busy", { status: 429, retryAfterMs: 0 });
    const { uploading } = await upload(() => Promise.reject(cause));
    await expect(uploading).rejects.toMatchObject({
      code: "ERR_AUDIT_UPLOAD",
      message: "busy",
      status: 429,
      retryAfterMs: 0,
      cause,
    });
  });

  test("without an answer has no status", async () => {
    const { uploading } = await upload(() => Promise.reject(new ServerError("ERR_SERVER_UNAVAILABLE", "down")));
    const error: unknown = await uploading.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ERR_AUDIT_UPLOAD", status: undefined, retryAfterMs: undefined });
  });

  test("of another kind stays what it is", async () => {
    const aborted = new DOMException("over", "AbortError");
    await expect((await upload(() => Promise.reject(aborted))).uploading).rejects.toBe(aborted);
  });
});
