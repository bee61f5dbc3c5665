import { expect, test } from "vitest";
import { ALICE, aPolicy, aRule } from "../builders.ts";
import { toolFingerprint } from "../servers.ts";
import { BOB } from "../store-builders.ts";
import { describeInBrowser } from "./in-browser.ts";
import { findBarriers, isTooWide } from "./open-page.ts";

const FOLDER = process.env["INTENTLOCK_SCREENSHOTS"];
const HOLD = { id: "open-payee", decision: "hold", approvers: { roles: ["approver"] } } as const;
const POLICY = aPolicy(
  aRule({
    ...HOLD,
    match: { tool: "send_payment", unpinned: ["recipient", "note"] },
    reason: "Nobody has said who gets it",
  }),
  aRule(),
);
const TASK = "Pay the invoice in november.txt: 2615 euros";
/** With a character that nobody sees. */
const RECIPIENT = "Hafen\u200B Logistik GmbH";

describeInBrowser("where values came from", ({ startServer, openAs }) => {
  test.each([1280, 390])("is said of a hold, and leads to the call, %i pixels wide", async (width) => {
    const server = await startServer({ policy: POLICY });
    const tools = { read_file: toolFingerprint("read_file"), send_payment: toolFingerprint("send_payment") };
    const args = {
      recipient: { each: { from: ["task", "read"] } },
      amount: { from: "task", lte: 3000 },
      note: { optional: true, anyOf: [{ glob: "Invoice*" }, { eq: null }] },
    } as const;
    const steps = [
      { id: "read", tool: "read_file", args: { path: { from: "task" } } },
      { tool: "send_payment", args, otherArgs: "block", maxCalls: 1 },
    ] as const;
    const plan = await server.gate.sign({
      user: ALICE,
      task: { instruction: TASK },
      plan: { goal: TASK, steps },
      tools,
    });
    const call = { callId: "read", tool: "read_file", args: { path: "november.txt" }, fingerprint: tools.read_file };
    const { seq: decisionSeq } = await server.gate.check(plan, call);
    const result = `Invoice 261 of ${RECIPIENT}, 2,615.00`;
    const outcome = { type: "outcome", planId: plan.planId, decisionSeq: decisionSeq!, status: "ok", result } as const;
    await server.gate.record(outcome);
    await server.hold({
      plan,
      tool: "send_payment",
      args: { recipient: [RECIPIENT], amount: 2615, note: "Invoice of November" },
    });
    const page = await openAs(server, BOB, { width });
    const rows = page.getByRole("list", { name: "Holds that wait for you" }).getByRole("link");
    if (width < 600) await rows.first().tap();
    const origins = page.getByRole("list", { name: "Where the values came from" });
    await origins.waitFor();
    const words = ((await origins.textContent()) ?? "").replaceAll(/\s+/g, " ");
    expect(words).toContain(`Nobody has fixed this value: it came from the result of read_file (call ${decisionSeq}).`);
    expect(words).toContain("Nobody has fixed this value: it is the model’s own words.");
    expect(words).toContain("It came from the user’s words.");
    expect(words).toContain("HafenU+200B Logistik");
    const step = ((await page.locator(".plan-step").nth(1).textContent()) ?? "").replaceAll(/\s+/g, " ");
    expect(step).toContain("was copied from the user’s words or the results of read");
    expect(step).toContain("No other arguments.");
    expect(await findBarriers(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
    if (FOLDER) await page.screenshot({ path: `${FOLDER}/origins-${width}.png`, fullPage: true });
    await origins.getByRole("link", { name: `call ${decisionSeq}` }).click();
    await page.locator(`#seq-${decisionSeq}`).waitFor();
    expect(new URL(page.url()).hash).toBe(`#seq-${decisionSeq}`);
    await page.getByText("it came from the result of").first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
    if (FOLDER) await page.screenshot({ path: `${FOLDER}/origins-story-${width}.png`, fullPage: true });
  });
});
