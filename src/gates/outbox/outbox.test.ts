import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { KEY } from "../../../test/builders.ts";
import {
  aDecision,
  aFile,
  aFolder,
  anOutbox,
  anOutcome,
  Chain,
  closed,
  withFile,
} from "../../../test/fixtures/outbox-files.ts";
import { type AuditEntry, verifyChain } from "../../core/index.ts";
import { LocalGate } from "../local.ts";
import { openOutbox } from "./outbox.ts";

// A thread starts for each outbox: on a busy machine that takes as long as it takes.
vi.setConfig({ testTimeout: 600_000 });

const FINGERPRINT = `sha256:${"0".repeat(64)}`;

const TRIGGER = "CREATE TRIGGER lose AFTER INSERT ON entries BEGIN DELETE FROM entries; END";

describe("append", () => {
  test("keeps entries for the next who opens the file", async () => {
    const first = await anOutbox();
    const chain = new Chain("plan-1");
    const entries = [...chain.decisions(2), ...chain.next(anOutcome)];
    await first.append(entries.slice(0, 2));
    await first.append(entries.slice(2), chain.head);
    await first.close();
    const second = await anOutbox({ path: first.path });
    expect(await second.entries("plan-1")).toEqual(entries);
    const plan = { upload: false, target: "", head: chain.head, closed: false };
    expect(await second.plan("plan-1")).toMatchObject(plan);
  });

  test("of nothing is nothing", async () => {
    const outbox = await anOutbox();
    await outbox.append([]);
    expect(await outbox.plans()).toEqual([]);
  });

  test.each<[string, (chain: Chain) => AuditEntry[]]>([
    ["that leave a gap", (chain) => chain.decisions(2).slice(1)],
    [
      "that do not begin at the first",
      (chain) => new Chain("plan-2", { ...chain.head, planId: "plan-2" }).decisions(1),
    ],
    ["with a number that is taken", () => new Chain("plan-1").next(anOutcome)],
    ["that skip a number", ({ head }) => new Chain("plan-1", { ...head, seq: head.seq + 1 }).decisions(1)],
    [
      "that follow on another entry",
      ({ head }) => new Chain("plan-1", { ...head, prev: `sha256:${"0".repeat(64)}` }).decisions(1),
    ],
    ["of two plans", (chain) => [...chain.decisions(1), ...new Chain("plan-2").decisions(1)]],
    ["that were put together wrongly", (chain) => [...chain.decisions(1), ...chain.decisions(2).slice(1)]],
    ["one of which was changed", (chain) => chain.decisions(2).map((entry) => ({ ...entry, at: 0 }))],
    ["with a plan id that is none", (chain) => chain.decisions(1).map((entry) => ({ ...entry, planId: 7 as never }))],
    ["with a plan id that is not text", (chain) => chain.decisions(1).map((entry) => ({ ...entry, planId: "\ud800" }))],
    ["with a number that is none", (chain) => chain.decisions(1).map((entry) => ({ ...entry, seq: "1" as never }))],
    ["with a digest that is none", (chain) => chain.decisions(1).map((entry) => ({ ...entry, prev: {} as never }))],
  ])("stores nothing of entries %s, and the others of its moment all the same", async (_name, make) => {
    const outbox = await anOutbox();
    const chain = new Chain("plan-1");
    const other = new Chain("plan-3");
    const stored = chain.decisions(1);
    await outbox.append(stored);
    const results = await Promise.allSettled([
      outbox.append(other.decisions(1)),
      outbox.append(make(chain)),
      outbox.append(other.decisions(1)),
    ]);
    expect(results).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "ERR_AUDIT_WRITE" } },
      { status: "fulfilled" },
    ]);
    expect(await outbox.entries("plan-1")).toEqual(stored);
    expect(await outbox.entries("plan-2")).toEqual([]);
    expect(await outbox.entries("plan-3")).toHaveLength(2);
  });

  test("says which entry comes next, or that one does not follow", async () => {
    const outbox = await anOutbox();
    const chain = new Chain("plan-1");
    await outbox.append(chain.decisions(2));
    const { head } = chain;
    const far = new Chain("plan-1", { ...head, seq: 7 }).decisions(1);
    await expect(outbox.append(far)).rejects.toThrow("entry 7 is refused: entry 2 comes next");
    const fork = new Chain("plan-1", { ...head, prev: `sha256:${"0".repeat(64)}` }).decisions(1);
    await expect(outbox.append(fork)).rejects.toThrow("entry 2 is refused: it does not follow on the entry before");
  });

  test("of one plan by two processes is refused to whoever comes second", async () => {
    const one = await anOutbox();
    const two = await anOutbox({ path: one.path });
    const chain = new Chain("plan-1");
    await one.append(chain.decisions(1));
    const fork = new Chain("plan-1", chain.head);
    fork.at += 5;
    const results = await Promise.allSettled([one.append(chain.decisions(1)), two.append(fork.decisions(1))]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const winner = results[0]?.status === "fulfilled" ? chain : fork;
    const [won, lost] = winner === chain ? [one, two] : [two, one];
    await expect(lost.append((winner === chain ? fork : chain).decisions(1))).rejects.toThrow("does not follow");
    await won.append(winner.decisions(1));
    expect(verifyChain(await lost.entries("plan-1"), "plan-1").head).toEqual(winner.head);
  });

  test("stores the texts that come with them, and nothing if one is missing", async () => {
    const outbox = await anOutbox();
    const chain = new Chain("plan-1");
    const entries = chain.decisions(2);
    const texts = entries.map((entry) => ` ${JSON.stringify(entry)}`);
    for (const wrong of [[], texts.slice(1), [texts[0], undefined], [texts[0], 7]]) {
      await expect(outbox.append(entries, chain.head, wrong as never)).rejects.toMatchObject({
        code: "ERR_AUDIT_WRITE",
      });
    }
    const [first, second] = entries as [AuditEntry, AuditEntry];
    for (const [pair, head] of [
      [[first, { ...second, prev: {} }], chain.head],
      [[first, { ...second, prev: null }], { ...chain.head, prev: null }],
    ] as const) {
      await expect(outbox.append(pair as never, head)).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    }
    await outbox.append(entries, chain.head, texts);
    expect(await outbox.entries("plan-1")).toEqual(entries);
    await outbox.close();
    const stored = withFile(outbox.path, (file) => file.prepare("SELECT body FROM entries ORDER BY seq").all());
    expect(stored.map(({ body }) => body)).toEqual(texts);
  });

  test("of hundreds at once are answered a few at a time, and share one sync all the same", async () => {
    const started = Promise.withResolvers<Worker>();
    process.once("worker", started.resolve);
    const outbox = await anOutbox({}, { syncDelayMs: 1000 });
    // It is known then how long a group takes: hundreds are one message even if making them takes half of that.
    await outbox.append(new Chain("plan").decisions(1));
    const groups: number[] = [];
    (await started.promise).on("message", ({ replies }) => groups.push(replies.length));
    let most = 0;
    let answered = 0;
    const turn = (): void => {
      most = Math.max(most, answered);
      answered = 0;
      if (groups.length < 2) setImmediate(turn);
    };
    turn();
    const callers = Array.from({ length: 300 }, async (_, caller) => {
      const chain = new Chain(`plan-${caller}`);
      for (let call = 0; call < 2; call++) {
        await outbox.append(chain.decisions(1));
        answered++;
      }
    });
    await Promise.all(callers);
    expect(groups).toEqual([300, 300]);
    expect(most).toBeLessThanOrEqual(2 * 64);
  });

  test("takes names that objects inherit, and text of all kinds", async () => {
    const outbox = await anOutbox();
    const planId = `__proto__'"; DROP TABLE entries; --\0\u{1f512}`;
    const entries = new Chain(planId).next({ ...aDecision(), args: undefined, note: "\0\u2028'\"" } as never);
    await outbox.append(entries);
    expect(await outbox.entries(planId)).toEqual(entries);
    expect(await outbox.entries("plan-1")).toEqual([]);
  });

  test("is refused when the outbox is closed", async () => {
    const outbox = await anOutbox();
    const chain = new Chain("plan-1");
    const last = outbox.append(chain.decisions(1));
    await Promise.all([outbox.close(), outbox.close()]);
    await last;
    await expect(outbox.append(chain.decisions(1))).rejects.toMatchObject({ code: "ERR_CLOSED" });
    await expect(outbox.entries("plan-1")).rejects.toMatchObject({ code: "ERR_CLOSED" });
  });
});

describe("begin", () => {
  test("keeps what the next needs to go on, and lists no key", async () => {
    const outbox = await anOutbox();
    const plan = { planId: "plan-1", upload: true, target: "t", clientKey: KEY.privateKey, state: "{}" };
    await outbox.begin(plan);
    await outbox.begin(plan);
    expect(await outbox.plan("plan-1")).toMatchObject(plan);
    expect(await outbox.plans()).toMatchObject([{ planId: "plan-1", target: "t", state: "{}" }]);
    expect(JSON.stringify(await outbox.plans())).not.toContain(KEY.privateKey.d);
  });

  test("refuses a plan that is known as something else", async () => {
    const outbox = await anOutbox();
    await outbox.begin({ planId: "plan-1", upload: true });
    await expect(outbox.begin({ planId: "plan-1", upload: false })).rejects.toMatchObject({
      code: "ERR_INVALID_OPTIONS",
    });
    await expect(outbox.begin({ planId: "plan-1", upload: true, target: "t" })).rejects.toThrow("other options");
    const withKey = { planId: "plan-1", upload: true, clientKey: KEY.privateKey };
    await expect(outbox.begin(withKey)).rejects.toThrow("other options");
  });

  test.each([
    ["no id", { planId: "", upload: true }],
    ["an id that is no text", { planId: 7 as never, upload: true }],
    ["no choice", { planId: "plan-1" } as never],
    ["a state that is no text", { planId: "plan-1", upload: true, state: {} as never }],
  ])("refuses a plan with %s", async (_name, plan) => {
    const outbox = await anOutbox();
    await expect(outbox.begin(plan)).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
  });
});

describe("the backlog", () => {
  test("is counted across processes, and lets nothing more be decided when it is full", async () => {
    const one = await anOutbox({ maxBacklog: 3 });
    const two = await anOutbox({ path: one.path, maxBacklog: 3 });
    const [first, second] = [new Chain("plan-1"), new Chain("plan-2")];
    await one.begin({ planId: "plan-1", upload: true });
    await two.begin({ planId: "plan-2", upload: true });
    await one.append(first.decisions(2));
    await two.append(second.decisions(1));
    const before = second.head;
    await expect(two.append(second.decisions(1))).rejects.toMatchObject({ code: "ERR_AUDIT_BACKLOG" });
    await expect(one.append(new Chain("plan-1", first.head).decisions(1))).rejects.toThrow("3 audit entries wait");
    // What became of calls that ran is not lost.
    await two.append(new Chain("plan-2", before).next(anOutcome, closed));
    expect(await two.entries("plan-2")).toHaveLength(3);
  });

  test("does not have local plans in it", async () => {
    const outbox = await anOutbox({ maxBacklog: 1 });
    const [local, other] = [new Chain("plan-1"), new Chain("plan-2")];
    await outbox.append(local.decisions(5));
    await outbox.begin({ planId: "plan-2", upload: true });
    await outbox.append(other.decisions(1));
    await outbox.close();
    const again = await anOutbox({ path: outbox.path, maxBacklog: 1 });
    await again.append(local.decisions(5));
    expect(await again.entries("plan-1")).toHaveLength(10);
    await expect(again.append(other.decisions(1))).rejects.toThrow("1 audit entries wait");
  });

  test("is counted anew when the file is opened", async () => {
    const outbox = await anOutbox({ maxBacklog: 2 });
    await outbox.begin({ planId: "plan-1", upload: true });
    const chain = new Chain("plan-1");
    await outbox.append(chain.decisions(1));
    await outbox.close();
    withFile(outbox.path, (file) => file.exec("UPDATE backlog SET waiting = 1000"));
    const again = await anOutbox({ path: outbox.path, maxBacklog: 2 });
    await again.append(chain.decisions(1));
    await expect(again.append(chain.decisions(1))).rejects.toMatchObject({ code: "ERR_AUDIT_BACKLOG" });
  });
});

describe("openOutbox", () => {
  test("makes a file and folders that only their owner can read", async () => {
    const folder = aFolder();
    const path = join(folder, "a", "b", "outbox.db");
    const outbox = await anOutbox({ path });
    await outbox.append(new Chain("plan-1").decisions(1));
    const modes = [path, `${path}-wal`, `${path}-shm`, dirname(path), dirname(dirname(path))].map(
      (name) => statSync(name).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o700, 0o700]);
  });

  test.each([
    ["no path", {} as never],
    ["an empty path", { path: "" }],
    ["a path with a NUL", { path: "a\0b" }],
    ["a limit that is none", { path: "x", maxBacklog: -1 }],
    ["a time that is none", { path: "x", retentionMs: Number.NaN }],
  ])("refuses %s", async (_name, options) => {
    await expect(openOutbox(options)).rejects.toMatchObject({ code: "ERR_INVALID_OPTIONS" });
  });

  /** A file with 300 entries of a local plan in it. */
  async function aFullFile(): Promise<string> {
    const outbox = await anOutbox();
    await outbox.append(new Chain("plan-1").decisions(300));
    await outbox.close();
    return outbox.path;
  }

  test.each<[string, (path: string) => void, RegExp]>([
    [
      "random bytes",
      (path) => writeFileSync(path, "not a database, but long enough to be one".repeat(100)),
      /damaged .*move it/,
    ],
    ["the first half", (path) => truncateSync(path, 4096 * 10), /damaged .*move it/],
    ["a few bytes", (path) => truncateSync(path, 77), /damaged .*move it/],
    ["holes", (path) => punch(path), /damaged .*move it/],
    [
      "another version's tables",
      (path) => withFile(path, (file) => file.exec("PRAGMA user_version = 2")),
      /schema version 2, .* reads 1/,
    ],
    [
      "another program's tables",
      (path) => withFile(path, (file) => file.exec("PRAGMA application_id = 7")),
      /another program's/,
    ],
    [
      "another program's tables, and no id",
      (path) => anotherFile(path, "CREATE TABLE users (name TEXT)"),
      /another program's/,
    ],
    ["nothing but another program's id", (path) => anotherFile(path, "PRAGMA application_id = 7"), /another program's/],
    ["nothing but another's version", (path) => anotherFile(path, "PRAGMA user_version = 3"), /another program's/],
    ["a trigger", (path) => withFile(path, (file) => file.exec(TRIGGER)), /tables are not those/],
    ["tables of its own", (path) => withFile(path, (file) => file.exec("DROP TABLE backlog")), /tables are not those/],
  ])("refuses a file with %s, and leaves it as it is", async (_name, damage, message) => {
    const path = await aFullFile();
    damage(path);
    const before = readFileSync(path);
    const opened = openOutbox({ path });
    await expect(opened).rejects.toMatchObject({ code: "ERR_OUTBOX" });
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.not.toThrow("cannot be written");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  /** A file that no outbox has ever written to. */
  function anotherFile(path: string, sql: string): void {
    rmSync(path);
    withFile(path, (file) => file.exec(sql));
  }

  test("refuses a folder that is a file", async () => {
    const path = aFile();
    writeFileSync(path, "");
    await expect(openOutbox({ path: join(path, "outbox.db") })).rejects.toThrow(/cannot be written .* give a path/);
  });

  test("refuses a path that is a folder", async () => {
    await expect(openOutbox({ path: aFolder() })).rejects.toMatchObject({ code: "ERR_OUTBOX" });
  });

  test.skipIf(process.getuid?.() === 0)("refuses a folder that cannot be written", async () => {
    const folder = join(aFolder(), "locked");
    mkdirSync(folder, { mode: 0o500 });
    chmodSync(folder, 0o500);
    await expect(openOutbox({ path: join(folder, "outbox.db") })).rejects.toThrow(/cannot be written/);
  });

  test("says when another process keeps the file to itself meanwhile", async () => {
    const { path } = await anOutbox();
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    await expect(anOutbox({ path }, { busyTimeoutMs: 1 })).rejects.toThrow(/is locked by another process: end it/);
    other.exec("ROLLBACK");
    await anOutbox({ path });
  });

  test("says when another process keeps the file to itself", async () => {
    const outbox = await anOutbox({}, { busyTimeoutMs: 1 });
    const other = new DatabaseSync(outbox.path);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const entries = new Chain("plan-1").decisions(1);
    await expect(outbox.append(entries)).rejects.toMatchObject({ code: "ERR_AUDIT_WRITE" });
    other.exec("ROLLBACK");
    await outbox.append(entries);
    expect(await outbox.entries("plan-1")).toEqual(entries);
  });
});

describe("the process", () => {
  const run = (code: string): ReturnType<typeof spawnSync> => {
    const url = new URL("./outbox.ts", import.meta.url).href;
    const script = `import { openOutbox } from ${JSON.stringify(url)};
      const entry = { v: 1, planId: "plan-1", seq: 0, prev: null, at: 1, event: { type: "closed" } };
      const outbox = await openOutbox({ path: process.argv[1] });
      ${code}`;
    return spawnSync(process.execPath, ["--input-type=module", "-e", script, aFile()], {
      encoding: "utf8",
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
    });
  };

  test("ends by itself when nothing waits, and says nothing on the screen", () => {
    expect(run("outbox.startUpload({ send: async () => '' }); console.log('opened');")).toMatchObject({
      status: 0,
      stdout: "opened\n",
      stderr: "",
    });
  });

  test("lives as long as an append waits", () => {
    expect(run("await outbox.append([entry]); console.log('stored');")).toMatchObject({
      status: 0,
      stdout: "stored\n",
    });
    expect(run("outbox.append([entry]).then(() => console.log('stored'));")).toMatchObject({ stdout: "stored\n" });
    expect(run("await outbox.close(); console.log('closed');")).toMatchObject({ status: 0, stdout: "closed\n" });
  });
});

describe("a LocalGate with an outbox", () => {
  test("leaves a chain that verifies", async () => {
    const outbox = await anOutbox();
    const gate = new LocalGate({ policy: "version: 1\ndefault: block\nrules: []\n", audit: outbox });
    const plan = await gate.sign({
      user: "alice@acme.dev",
      task: { instruction: "Pay" },
      plan: { goal: "Pay", steps: [{ tool: "send_money" }] },
      tools: { send_money: FINGERPRINT },
    });
    await Promise.all(
      [1, 2, 3].map(
        async (n) => await gate.check(plan, { callId: `${n}`, tool: "send_money", args: {}, fingerprint: FINGERPRINT }),
      ),
    );
    await gate.close();
    const again = await anOutbox({ path: outbox.path });
    const entries = await again.entries(plan.planId);
    expect(entries.map(({ event }) => event.type)).toEqual([
      "plan_signed",
      "decision",
      "decision",
      "decision",
      "closed",
    ]);
    expect(verifyChain(entries, plan.planId).problem).toBeUndefined();
    expect(existsSync(outbox.path)).toBe(true);
  });
});

function punch(path: string): void {
  const bytes = readFileSync(path);
  for (let page = 2; page * 4096 < bytes.length; page += 3) bytes.fill(0x5a, page * 4096, page * 4096 + 64);
  writeFileSync(path, bytes);
}
