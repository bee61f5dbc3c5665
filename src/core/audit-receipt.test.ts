import { expect, test } from "vitest";
import { AGENT, KEY, NOW, PLAN_ID } from "../../test/builders.ts";
import { openReceipt, type ReceiptClaims, signReceipt } from "./audit-receipt.ts";

const CLAIMS: ReceiptClaims = {
  ver: 1,
  iss: "server",
  aud: AGENT,
  planId: PLAN_ID,
  seq: 1,
  head: `sha256:${"a".repeat(64)}`,
  receivedAt: NOW * 1000,
};

test.each<[string, Partial<ReceiptClaims>]>([
  ["the first entry", {}],
  ["many entries", { seq: 1_000_000 }],
  ["a clock at the epoch", { receivedAt: 0 }],
])("a receipt of %s opens to what was signed", async (_name, over) => {
  const claims = { ...CLAIMS, ...over };
  const token = await signReceipt(claims, KEY);
  expect(await openReceipt(token, [KEY.publicKey], { audience: AGENT })).toEqual({ valid: true, claims });
});

test.each<[string, object]>([
  ["no entries", { seq: 0 }],
  ["half an entry", { seq: 1.5 }],
  ["a time before the epoch", { receivedAt: -1 }],
  ["a head that is no digest", { head: "a" }],
  ["a head after other text", { head: `x${CLAIMS.head}` }],
  ["another version", { ver: 2 }],
])("no receipt of %s is signed", async (_name, over) => {
  await expect(signReceipt({ ...CLAIMS, ...over }, KEY)).rejects.toMatchObject({ code: "ERR_INVALID_CLAIMS" });
});

test("a receipt opens for nobody unless it is said for whom", async () => {
  const token = await signReceipt(CLAIMS, KEY);
  expect(await openReceipt(token, [KEY.publicKey], undefined as never)).toMatchObject({ valid: false });
});
