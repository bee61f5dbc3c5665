import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ALICE } from "../builders.ts";
import { aHoldPolicy, aKey, ROOT } from "../servers.ts";
import { BOB } from "../store-builders.ts";
import { describeInBrowser } from "./in-browser.ts";

const DANA = "dana@acme.dev";

/** Each would set `ran` or leave the server if anything took it for more than text. */
const MARKUP: readonly string[] = [
  '<img src=x onerror="globalThis.ran=1">',
  "<script>globalThis.ran=1</script>",
  '"><svg onload=globalThis.ran=1>',
  "javascript:globalThis.ran=1",
  "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
  "<a href='https://evil.example/'>approve</a><link rel=stylesheet href=https://evil.example/>",
  "{{constructor.constructor('globalThis.ran=1')()}}",
  "</textarea></script><style>*{display:none}</style>",
];

/** What would not be seen, and how it is shown. */
const HIDDEN: Readonly<Record<string, string>> = {
  "pay \u202Eecila\u202C": "pay U+202EecilaU+202C",
  "a\u200Bb": "aU+200Bb",
  "\u2066left\u2069": "U+2066leftU+2069",
  "bell\u0007, escape\u001B[2K": "bellU+0007, escapeU+001B[2K",
  "tag\u{E0041}": "tagU+E0041",
  раypal: "раU+0440ypal",
};

/** In the browser: what would be there if something of {@link MARKUP} were more than text. */
const FIND_TRACES = `({
  ran: "ran" in globalThis,
  elements: document.querySelectorAll("#app :is(img, script, iframe, object, embed, link, style, base)").length,
  links: Array.from(document.links, ({ href }) => href).filter((href) => !href.startsWith(location.origin + "/")),
  handlers: Array.from(document.querySelectorAll("*"), (element) => element.getAttributeNames())
    .flat()
    .filter((name) => name.startsWith("on")),
  inherited: Object.keys(Object.prototype),
})`;

async function expectNoTraces(page: Page): Promise<void> {
  const traces = { ran: false, elements: 0, links: [], handlers: [], inherited: [] };
  expect(await page.evaluate(FIND_TRACES)).toEqual(traces);
}

describeInBrowser("what others wrote", ({ startServer, openAs }) => {
  test("is text on every page, whoever wrote it", async () => {
    const markup = MARKUP.join(" ");
    const server = await startServer({
      policy: aHoldPolicy({ reason: markup }),
      agentName: MARKUP[0]!,
      people: { [DANA]: { roles: ["admin", "approver"], groups: [MARKUP[0]!] } },
    });
    await server.store.people.upsert({
      ...{ email: ALICE, name: MARKUP[2]!, roles: ["member"], groups: [], createdAt: Date.now(), disabledAt: null },
    });
    const args = { [MARKUP[0]!]: MARKUP, nested: { __html: markup, dangerouslySetInnerHTML: { __html: markup } } };
    const task = { instruction: markup, material: markup };
    const conditions = { [MARKUP[0]!]: { in: [MARKUP] } } as const;
    const { plan, resolution } = await server.hold({ args, task, conditions });
    // What a model calls by another name is on record, too.
    const decision = await server.gate.check(plan, { callId: MARKUP[1]!, tool: MARKUP[3]!, args: {} });
    expect(decision.verdict).toBe("block");
    const { agentId } = server.agent;
    await aKey(server.store, agentId, { name: MARKUP[0] });
    const { text } = (await server.store.policies.latest(agentId))!;
    await server.store.policies.push({ agentId, text, createdAt: Date.now(), createdBy: ROOT, comment: markup });

    const page = await openAs(server, DANA);
    const hold = page.getByRole("article", { name: "The hold" });
    for (const text of MARKUP) await hold.getByText(text).first().waitFor();
    await expectNoTraces(page);
    await hold.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill(markup);
    await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
    expect(await resolution).toEqual({ status: "rejected", comment: markup });
    await hold.getByText("Rejected by").waitFor();
    await expectNoTraces(page);
    const paths = [
      "/decisions",
      `/plans/${plan.planId}`,
      "/policies",
      `/policies/${agentId}`,
      "/agents",
      `/agents?agent=${agentId}`,
      "/people",
    ];
    for (const path of paths) {
      await page.goto(`${server.url}${path}`);
      const shown = page
        .getByRole("main")
        .getByText(/onerror|onload/)
        .filter({ visible: true });
      await expect.poll(() => shown.count(), { message: path, timeout: 15_000 }).toBeGreaterThan(0);
      await expectNoTraces(page);
    }
  });

  test("shows what would not be seen, or would turn the direction of writing", async () => {
    const server = await startServer();
    const args = { list: Object.keys(HIDDEN), "key\u202E": 1 };
    await server.hold({ args, task: { instruction: Object.keys(HIDDEN).join(" | "), material: "m\u200D!" } });
    const page = await openAs(server, BOB);
    const shown = page.getByRole("article", { name: "The hold" });
    await shown.getByRole("region", { name: "Arguments" }).waitFor();
    const text = (await shown.textContent()) ?? "";
    for (const expected of Object.values(HIDDEN)) expect(text.split(expected).length).toBeGreaterThan(2);
    expect(text).toContain("keyU+202E");
    expect(text).toContain("mU+200D!");
    for (const page of [text, await shown.innerHTML()]) expect(page).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/);
  });

  test("is folded where it is long or deep, to the last character", async () => {
    const server = await startServer();
    let deep: unknown = "the bottom";
    for (let depth = 0; depth < 80; depth += 1) deep = { [`level ${depth}`]: deep };
    const json = JSON.stringify({
      long: `${"x".repeat(100_000)}THE END`,
      deep,
      many: Array.from({ length: 5000 }, (_, i) => i),
    });
    const args = JSON.parse(`${json.slice(0, -1)},"__proto__":{"ran":"no"},"constructor":"c","toString":"t"}`);
    const { holdId } = await server.hold({ args });
    const page = await openAs(server, BOB);
    const tree = page.getByRole("article", { name: "The hold" }).getByRole("region", { name: "Arguments" });
    await tree.getByText("__proto__").waitFor();
    for (const name of ["constructor", "toString"]) await tree.getByText(name, { exact: true }).waitFor();
    expect(((await tree.textContent()) ?? "").length).toBeLessThan(5000);
    const more = tree.getByRole("button", { name: /more characters/ });
    while ((await more.count()) > 0) await more.first().click();
    await tree.getByText("THE END").waitFor();
    const inner = tree.getByRole("button", { name: /\{ \d+ fields? \}/ });
    while ((await inner.count()) > 0) await inner.first().click();
    await tree.getByText("the bottom").waitFor();
    await tree.getByRole("button", { name: /more items/ }).click();
    await expectNoTraces(page);
    // It is still a page that answers.
    await page.keyboard.press("a");
    await page.getByRole("dialog", { name: "Approve this call?" }).getByRole("button", { name: "Approve" }).click();
    await expect.poll(async () => (await server.store.holds.get(holdId))?.status).toBe("approved");
    expect(Object.hasOwn((await server.store.holds.get(holdId))!.args as object, "__proto__")).toBe(true);
  });
});
