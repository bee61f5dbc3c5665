import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AGENT, aPlan, aPolicy, KEY } from "../../../test/builders.ts";
import { aShell, KEY_SET, recordPlan, type Shell, storePlan } from "../../../test/command-lines.ts";
import { aGateCall, aSignRequest } from "../../../test/gate-conformance.ts";
import { addAgent, NOW_MS } from "../../../test/store-builders.ts";
import { LocalGate } from "../../gates/index.ts";
import { openOutbox } from "../../gates/outbox/outbox.ts";
import { openStore } from "../../server/store/index.ts";
import { EXIT } from "../exit-codes.ts";

// Processes, threads and syncs take as long as the machine needs.
vi.setConfig({ testTimeout: 120_000 });

/** A shell beside a server's store, or a gate's outbox, of two plans. */
interface Recorded {
  readonly shell: Shell;
  readonly planIds: readonly string[];
  readonly agentId: string;
  verify(more?: readonly string[]): Promise<{ readonly code: number; readonly value: unknown }>;
  /** Runs SQL behind everybody's back. */
  tamper(sql: string): void;
}

function onFile(file: string): (sql: string) => void {
  return (sql) => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
}

async function aStore(): Promise<Recorded> {
  const shell = aShell();
  const file = join(shell.folder, ".intentlock/intentlock.db");
  const store = await openStore({ sqlite: file });
  await store.signingKeys.addFirst({ key: KEY, createdAt: 0, signsFrom: 0 });
  const owner = await addAgent(store);
  const planIds = [await storePlan(store, owner), await storePlan(store, owner)];
  await store.adminAudit.append({ at: NOW_MS, actor: "cli", action: "agent.create", target: "x", details: {} });
  await store.close();
  const verify: Recorded["verify"] = (more = []) => shell.json(["audit", "verify", ...more]);
  return { shell, planIds, agentId: owner.agentId, verify, tamper: onFile(file) };
}

async function anOutbox(): Promise<Recorded> {
  const shell = aShell();
  const file = join(shell.folder, "outbox.db");
  const outbox = await openOutbox({ path: file });
  const planIds = [await recordPlan(outbox), await recordPlan(outbox)];
  await outbox.close();
  shell.write("keys.json", JSON.stringify(KEY_SET));
  const argv = ["audit", "verify", "--outbox", "outbox.db", "--jwks", "keys.json"];
  const verify: Recorded["verify"] = (more = []) => shell.json([...argv, ...more]);
  return { shell, planIds, agentId: AGENT, verify, tamper: onFile(file) };
}

const TOTAL = {
  plans: 2,
  entries: 10,
  decisions: 4,
  recomputed: 4,
  onTrust: 0,
  notRecomputable: 0,
  notClosed: 0,
  removed: 0,
};

describe.each([
  ["a store", aStore, "audit_entries", "plan_id", "entry"],
  ["an outbox", anOutbox, "entries", "plan", "body"],
] as const)("audit verify of %s", (_name, make, table, plan, body) => {
  test("in which everything agrees", async () => {
    const { verify } = await make();
    expect(await verify()).toMatchObject({ code: EXIT.ok, value: { ok: true, ...TOTAL, problems: [] } });
  });

  test("of one plan, and of one agent", async () => {
    const { verify, planIds, agentId } = await make();
    const one = { code: EXIT.ok, value: { plans: 1, entries: 5 } };
    expect(await verify(["--plan", planIds[0] ?? ""])).toMatchObject(one);
    expect(await verify(["--agent", agentId])).toMatchObject({ code: EXIT.ok, value: TOTAL });
    const none = { code: EXIT.failed, value: { error: { code: "ERR_NOT_FOUND" } } };
    expect(await verify(["--plan", "none"])).toMatchObject(none);
  });

  const change = (from: string, to: string, where = ""): string =>
    `UPDATE ${table} SET ${body} = replace(${body}, '${from}', '${to}') ${where}`;

  test.each<[name: string, sql: string, seq: number | undefined, problem: RegExp]>([
    ["changed arguments", change('"landlord"', '"attacker"', "WHERE seq = 1"), 1, /not those of its digest/],
    ["a changed verdict", change('"verdict":"block"', '"verdict":"allow"', "WHERE seq = 3"), 4, /does not follow/],
    ["a changed time", change('"at":', '"at":1', "WHERE seq = 2"), 3, /does not follow/],
    ["an entry that is missing", `DELETE FROM ${table} WHERE seq = 2`, 2, /entry 3 stands where 2 should/],
    ["a first entry that is missing", `DELETE FROM ${table} WHERE seq = 0`, 0, /entry 1 stands where 0 should/],
    ["a changed last entry", change('"at":', '"at":1', "WHERE seq = 4"), 5, /last entry is not the one/],
    ["what is no JSON", `UPDATE ${table} SET ${body} = '{' WHERE seq = 2`, undefined, /JSON|audit entry/],
    ["null", `UPDATE ${table} SET ${body} = 'null' WHERE seq = 2`, undefined, /./],
    ["an entry without an event", `UPDATE ${table} SET ${body} = '{"v":1}' WHERE seq = 2`, undefined, /./],
  ])("finds %s, and says where", async (_case, sql, seq, problem) => {
    const { verify, tamper, planIds } = await make();
    const [, second = ""] = planIds;
    const only = table === "entries" ? "2" : `'${second}'`;
    tamper(`${sql} ${sql.includes("WHERE") ? "AND" : "WHERE"} ${plan} = ${only}`);
    const { code, value } = await verify();
    expect(code).toBe(EXIT.negative);
    const found = { planId: second, ...(seq !== undefined && { seq }), problem: expect.stringMatching(problem) };
    expect(value).toMatchObject({ ok: false, plans: 2, problems: [found] });
  });

  test("finds tokens that another key has signed", async () => {
    const { verify, tamper, shell } = await make();
    const other = { keys: [{ ...KEY.publicKey, x: "A".repeat(43) }] };
    if (table === "entries") shell.write("keys.json", JSON.stringify(other));
    else tamper(`UPDATE signing_keys SET public_jwk = '${JSON.stringify(other.keys[0])}'`);
    const { code, value } = await verify();
    expect(code).toBe(EXIT.negative);
    expect(value).toMatchObject({
      recomputed: 0,
      problems: [{ seq: 0, problem: expect.stringContaining("token") }, {}, {}, {}, {}, {}],
    });
  });

  test("says in words what differs", async () => {
    const { tamper, shell, planIds } = await make();
    tamper(`UPDATE ${table} SET ${body} = replace(${body}, '"landlord"', '"\\u001b[2J"') WHERE seq = 1`);
    const more = table === "entries" ? ["--outbox", "outbox.db", "--jwks", "keys.json"] : [];
    const { code, out } = await shell.run(["audit", "verify", ...more]);
    expect(code).toBe(EXIT.negative);
    for (const id of planIds) expect(out).toContain(`plan ${id}, entry 1: its arguments are not those of its digest\n`);
    expect(out).toMatch(/\n2 problems\.\n$/);
  });
});

describe("audit verify of values that were copied from somewhere", () => {
  const task = { instruction: "Pay Dora", material: "From a mail" };

  /** An outbox with three calls: one reads, one pays whom the task names, one whom the file names. */
  async function aCopyingOutbox(): Promise<{ shell: Shell; planId: string; argv: string[] }> {
    const shell = aShell();
    const outbox = await openOutbox({ path: join(shell.folder, "outbox.db") });
    const gate = new LocalGate({ policy: aPolicy(), audit: outbox, signingKey: KEY, agent: AGENT });
    const args = { to: { from: ["task", "bill"] } };
    const plan = aPlan({ id: "bill", tool: "read_file" }, { tool: "send_money", args });
    const signed = await gate.sign(aSignRequest({ plan, task }));
    const { planId } = signed;
    const pay = async (to: string) => await gate.check(signed, aGateCall({ callId: to, args: { to } }));
    const { seq = -1 } = await gate.check(signed, aGateCall({ tool: "read_file", args: {} }));
    await gate.record({ type: "outcome", planId, decisionSeq: seq, status: "ok", result: "Pay: CablesCo" });
    expect([await pay("Dora"), await pay("CablesCo")]).toMatchObject([{ verdict: "allow" }, { verdict: "allow" }]);
    await gate.record({ type: "closed", planId });
    await gate.close();
    await outbox.close();
    shell.write("keys.json", JSON.stringify(KEY_SET));
    return { shell, planId, argv: ["audit", "verify", "--outbox", "outbox.db", "--jwks", "keys.json"] };
  }

  test("counts what rests on trust: what tools returned, and tasks that are not known", async () => {
    const { shell, planId, argv } = await aCopyingOutbox();
    expect(await shell.json(argv)).toMatchObject({ code: EXIT.ok, value: { recomputed: 3, onTrust: 2 } });
    shell.write("tasks.json", JSON.stringify({ [planId]: task }));
    const known = [...argv, "--tasks", "tasks.json"];
    expect(await shell.json(known)).toMatchObject({ code: EXIT.ok, value: { recomputed: 3, onTrust: 1 } });
    const { out } = await shell.run(known);
    expect(out).toContain(
      "3 decisions: 3 recomputed, 0 cannot be (arguments redacted or malformed)\n1 of those recomputed",
    );
  });

  test("finds that the task is another", async () => {
    const { shell, planId, argv } = await aCopyingOutbox();
    shell.write("tasks.json", JSON.stringify({ [planId]: { instruction: "Pay Dora" } }));
    const { code, value } = await shell.json([...argv, "--tasks", "tasks.json"]);
    expect({ code, value }).toMatchObject({ code: EXIT.negative, value: { recomputed: 2, problems: [{ planId }] } });
  });

  test.each([
    ["not JSON", "{"],
    ["a list", "[]"],
    ["without an instruction", '{"plan-1":{}}'],
    ["with more than a task has", '{"plan-1":{"instruction":"a","more":1}}'],
  ])("takes no tasks that are %s", async (_name, text) => {
    const shell = aShell();
    shell.write("tasks.json", text);
    shell.write("keys.json", JSON.stringify(KEY_SET));
    const argv = ["audit", "verify", "--outbox", "o.db", "--jwks", "keys.json", "--tasks", "tasks.json"];
    const { code, err } = await shell.run(argv);
    expect({ code, err }).toEqual({ code: EXIT.usage, err: expect.stringMatching(/tasks\.json is no list of tasks/) });
  });

  test("takes no tasks for the store, which has them", async () => {
    expect(await aShell().run(["audit", "verify", "--tasks", "a"])).toMatchObject({ code: EXIT.usage });
  });
});

describe("audit verify of a store", () => {
  test("finds entries that are missing at the end", async () => {
    const { verify, tamper, planIds } = await aStore();
    tamper("DELETE FROM audit_entries WHERE seq >= 3");
    const { code, value } = await verify(["--plan", planIds[0] ?? ""]);
    expect({ code, value }).toMatchObject({
      code: 1,
      value: { problems: [{ seq: 3, problem: "2 of its entries are missing" }] },
    });
  });

  test("finds what was changed in the trail of administrators, unless it is asked for one plan", async () => {
    const { verify, tamper, planIds } = await aStore();
    tamper("UPDATE admin_audit SET actor = 'nobody'");
    const problems = [{ planId: "(administrators)", seq: 0, problem: "it was changed" }];
    expect(await verify()).toMatchObject({ code: EXIT.negative, value: { ok: false, problems } });
    expect(await verify(["--plan", planIds[0] ?? ""])).toMatchObject({ code: EXIT.ok });
  });

  test.each([
    ["--agent", "none"],
    ["--agent", "__proto__"],
  ])("%s %s is no agent", async (...more) => {
    const { verify } = await aStore();
    expect(await verify(more)).toMatchObject({ code: EXIT.failed, value: { error: { code: "ERR_NOT_FOUND" } } });
  });

  test("with --database elsewhere makes no file", async () => {
    const shell = aShell();
    const { code } = await shell.run(["audit", "verify", "--database", "other.db"]);
    expect([code, existsSync(join(shell.folder, "other.db"))]).toEqual([EXIT.failed, false]);
  });
});

describe("audit verify of an outbox", () => {
  test("leaves the file as it is, and makes none", async () => {
    const { verify, shell } = await anOutbox();
    const file = join(shell.folder, "outbox.db");
    const before = [readFileSync(file), statSync(file).mtimeMs];
    await verify();
    expect([readFileSync(file), statSync(file).mtimeMs]).toEqual(before);
    const { code } = await shell.run(["audit", "verify", "--outbox", "none.db", "--jwks", "keys.json"]);
    expect([code, existsSync(join(shell.folder, "none.db"))]).toEqual([EXIT.failed, false]);
  });

  test("that a gate has open", async () => {
    const { verify, shell } = await anOutbox();
    const outbox = await openOutbox({ path: join(shell.folder, "outbox.db") });
    onTestFinished(() => outbox.close());
    await recordPlan(outbox);
    expect(await verify()).toMatchObject({ code: EXIT.ok, value: { plans: 3, decisions: 6 } });
  });

  test("counts plans that were uploaded and removed, and verifies what is left of them", async () => {
    const { verify, tamper } = await anOutbox();
    tamper(
      "UPDATE plans SET base_seq = 2, base_head = (SELECT digest FROM entries WHERE plan = 1 AND seq = 1) WHERE id = 1",
    );
    tamper("DELETE FROM entries WHERE plan = 1 AND seq < 2");
    expect(await verify()).toMatchObject({ code: EXIT.ok, value: { removed: 1, plans: 2, entries: 8 } });
    tamper("DELETE FROM entries WHERE plan = 1 AND seq = 3");
    expect(await verify()).toMatchObject({ code: EXIT.negative, value: { problems: [{ seq: 3 }] } });
    tamper("DELETE FROM entries WHERE plan = 1");
    expect(await verify()).toMatchObject({ code: EXIT.ok, value: { removed: 1, entries: 5 } });
  });

  test.each<[name: string, sql: string, why: RegExp]>([
    ["another program's database", "PRAGMA application_id = 1", /another program's/],
    ["a newer one", "PRAGMA user_version = 9", /version 9/],
    [
      "one whose table is a view without an end",
      "ALTER TABLE entries RENAME TO e; CREATE VIEW entries AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS plan, i AS seq, 'x' AS digest, 'x' AS body FROM n",
      /its tables are not those of an outbox/,
    ],
    ["one without a table", "DROP TABLE entries", /its tables are not those of an outbox/],
  ])("of %s cannot be done", async (_name, sql, why) => {
    const { verify, tamper } = await anOutbox();
    tamper(sql);
    const error = { code: "ERR_OUTBOX", message: expect.stringMatching(why) };
    expect(await verify()).toEqual({ code: EXIT.failed, value: { error } });
  });

  test.each([
    ["no database", "words"],
    ["nothing", ""],
  ])("of a file with %s cannot be done", async (_name, content) => {
    const { shell } = await anOutbox();
    shell.write("other.db", content);
    const { code, err } = await shell.run(["audit", "verify", "--outbox", "other.db", "--jwks", "keys.json"]);
    expect({ code, err }).toEqual({
      code: EXIT.failed,
      err: expect.stringMatching(/^error: .*other\.db cannot be read/),
    });
  });

  test.each<[name: string, keys: string, code: number]>([
    ["a key alone", JSON.stringify(KEY.publicKey), EXIT.ok],
    ["a set with more in it", JSON.stringify({ keys: [{ ...KEY.publicKey, use: "sig" }], more: 1 }), EXIT.ok],
    ["a set of none", '{"keys":[]}', EXIT.negative],
    ["no JSON", "{", EXIT.failed],
    ["no keys", "[]", EXIT.failed],
    ["a key of another kind", '{"keys":[{"kty":"oct","k":"AAAA","kid":"x"}]}', EXIT.failed],
  ])("takes keys: %s", async (_name, keys, code) => {
    const { verify, shell } = await anOutbox();
    shell.write("keys.json", keys);
    expect(await verify()).toMatchObject({ code });
  });

  test.each<[name: string, status: number, body: string, code: number]>([
    ["a key set", 200, JSON.stringify(KEY_SET), EXIT.ok],
    ["another page", 404, "{}", EXIT.failed],
    ["a redirect", 302, "", EXIT.failed],
    ["too much", 200, " ".repeat(1_048_577) + JSON.stringify(KEY_SET), EXIT.failed],
  ])("takes %s from a server", async (_name, status, body, code) => {
    const { shell } = await anOutbox();
    const server = createServer(({ url }, answer) => {
      if (url === "/other") answer.end(JSON.stringify(KEY_SET));
      else answer.writeHead(status, { location: "/other" }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`;
    const ended = await shell.run(["audit", "verify", "--outbox", "outbox.db", "--jwks", url]);
    expect(ended).toMatchObject({ code });
  });

  test.each([
    "http://example.com/keys",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "file:///etc/passwd",
    "ftp://x/y",
    "https://",
  ])("takes no keys from %s", async (url) => {
    const { shell } = await anOutbox();
    const { code, err } = await shell.run(["audit", "verify", "--outbox", "outbox.db", "--jwks", url]);
    expect({ code, err }).toEqual({ code: EXIT.usage, err: expect.stringMatching(/^error: --jwks: expected/) });
  });

  test("of another agent has nothing", async () => {
    const { verify } = await anOutbox();
    expect(await verify(["--agent", randomUUID()])).toMatchObject({ code: EXIT.ok, value: { plans: 0 } });
  });
});
