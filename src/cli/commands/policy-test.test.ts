import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { KEY } from "../../../test/builders.ts";
import { aShell, type Shell, storePlan } from "../../../test/command-lines.ts";
import { addAgent, NOW_MS } from "../../../test/store-builders.ts";
import { openStore } from "../../server/store/index.ts";
import { EXIT } from "../exit-codes.ts";

// Processes, threads and syncs take as long as the machine needs.
vi.setConfig({ testTimeout: 120_000 });

const ALLOW =
  "version: 1\ndefault: block\nrules:\n  - { id: allow-in-plan, match: { inPlan: true }, decision: allow }\n";
const HOLD = ALLOW.replace("decision: allow", "decision: hold, approvers: { roles: [approver] }");

/** A shell beside a store in which an agent has decided twice: allowed, and blocked by its plan. */
async function aHistory(): Promise<Shell & { readonly agentId: string }> {
  const shell = aShell();
  const store = await openStore({ sqlite: join(shell.folder, ".intentlock/intentlock.db") });
  await store.signingKeys.addFirst({ key: KEY, createdAt: 0, signsFrom: 0 });
  const owner = await addAgent(store);
  await storePlan(store, owner);
  for (const [email, role] of [
    ["root@acme.dev", "admin"],
    ["alice@acme.dev", "member"],
  ] as const) {
    await store.people.upsert({ email, roles: [role], groups: [], createdAt: NOW_MS, disabledAt: null });
  }
  const policy = { agentId: owner.agentId, text: ALLOW, createdAt: NOW_MS, createdBy: "cli", comment: null };
  await store.policies.push(policy);
  await store.close();
  shell.write("allow.yaml", ALLOW);
  shell.write("hold.yaml", HOLD);
  return { ...shell, agentId: owner.agentId };
}

describe("policy test", () => {
  test("shows what changes, and what does not", async () => {
    const { run, json, agentId } = await aHistory();
    const line = ["policy", "test", "--agent", agentId];
    const same = await run([...line, "allow.yaml"]);
    expect(same).toEqual({ code: EXIT.ok, out: expect.stringMatching(/\n2 calls: 0 changed\n$/), err: "" });
    const { code, out } = await run([...line, "hold.yaml"]);
    expect({ code, out }).toEqual({ code: EXIT.ok, out: expect.stringMatching(/\n2 calls: 1 changed\n$/) });
    expect(out).toMatch(/ 1 +call-1 +send_money +allow \(allow-in-plan\) +hold \(allow-in-plan\) +changed\n/);
    expect(out).toMatch(/ 3 +call-2 +send_money +block \(call_limit\) +block \(call_limit\)\n/);
    const { value } = await json([...line, "hold.yaml"]);
    const row = { callId: "call-1", before: { verdict: "allow" }, after: { verdict: "hold" }, changed: true };
    expect(value).toMatchObject({ changed: 1, notRecomputable: 0, rows: [{ changed: false }, row] });
  });

  test.each([
    ["allow.yaml", EXIT.ok],
    ["hold.yaml", EXIT.negative],
  ])("with --fail-on-change of %s ends with %i", async (file, code) => {
    const { run, agentId } = await aHistory();
    expect((await run(["policy", "test", "--agent", agentId, file, "--fail-on-change"])).code).toBe(code);
    expect((await run(["policy", "test", "--agent", agentId, file, "--fail-on-change", "--replay", "0"])).code).toBe(0);
  });

  test("tries sample calls", async () => {
    const { run, json, write, agentId } = await aHistory();
    write(
      "calls.json",
      JSON.stringify([
        { tool: "send_money", args: {} },
        { tool: "x", args: {}, user: "Alice@acme.dev" },
      ]),
    );
    const line = ["policy", "test", "--agent", agentId, "hold.yaml", "--replay", "0", "--calls", "calls.json"];
    expect((await run(line)).out).toMatch(
      /\n\(sample\) +- +\S+ +x +allow \(allow-in-plan\) +hold \(allow-in-plan\) +changed\n2 calls/,
    );
    expect(await json([...line, "--fail-on-change"])).toMatchObject({ code: EXIT.negative, value: { changed: 2 } });
  });

  test.each<[calls: string, code: number, message: RegExp]>([
    ["[]", EXIT.ok, /^$/],
    ["{", EXIT.usage, /calls\.json: /],
    ["{}", EXIT.usage, /calls\.json is no list of calls:\n {2}calls: expected a list/],
    ['[{"tool":"x"}]', EXIT.usage, /calls\[0\]\.args: /],
    ['[{"tool":"x","args":{},"more":1}]', EXIT.usage, /calls\[0\]\.more: unknown field/],
    ['[{"tool":"x y","args":{}}]', EXIT.usage, /calls\[0\]\.tool: /],
    ['[{"tool":"x","args":{},"__proto__":{}}]', EXIT.usage, /calls\[0\].*__proto__/],
    ['[{"tool":"x","tool":"y","args":{}}]', EXIT.usage, /calls\.json: /],
    ['[{"tool":"x","args":{},"user":"nobody@acme.dev"}]', EXIT.failed, /./],
    [`[${'{"tool":"x","args":{}},'.repeat(1000)}{"tool":"x","args":{}}]`, EXIT.usage, /at most 1000/],
    [`${"[".repeat(100_000)}`, EXIT.usage, /calls\.json: /],
  ])("takes the calls %.40s with %i", async (calls, code, message) => {
    const { run, write, agentId } = await aHistory();
    write("calls.json", calls);
    const line = ["policy", "test", "--agent", agentId, "allow.yaml", "--replay", "0", "--calls", "calls.json"];
    const ended = await run(line);
    expect({ code: ended.code, err: ended.err }).toEqual({ code, err: expect.stringMatching(message) });
  });
});
