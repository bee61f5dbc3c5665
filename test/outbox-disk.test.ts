import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, type TestContext, test } from "vitest";
import { type AuditEntry, verifyChain } from "../src/core/index.ts";
import { LocalGate } from "../src/gates/local.ts";
import { openOutbox } from "../src/gates/outbox/index.ts";
import { aPlan, aPolicy, summarize } from "./builders.ts";
import { buildChild } from "./fixtures/outbox-children.ts";
import { aFile, aFolder, anOutbox, anOutcome, Chain, closed, EntryServer, QUICK } from "./fixtures/outbox-files.ts";
import { aGateCall, aSignRequest } from "./gate-conformance.ts";

describe("the disk", () => {
  /** A file system of a megabyte; the test is skipped where only root can have one. */
  function aSmallDisk(context: TestContext): string {
    const folder = join(aFolder(), "disk");
    mkdirSync(folder);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "pipe" });
    } catch (error) {
      context.skip(`no tmpfs can be mounted: ${error}`);
    }
    onTestFinished(() => void execFileSync("umount", ["-l", folder]));
    return folder;
  }

  /** Appends until there is no room, and gives what was stored. */
  async function fill(append: (entries: AuditEntry[]) => Promise<void>, chain: Chain): Promise<Chain> {
    for (let round = 0; round < 10_000; round++) {
      const before = chain.head;
      try {
        await append(chain.decisions(20));
      } catch (error) {
        expect(error).toMatchObject({ code: "ERR_AUDIT_WRITE", message: expect.stringContaining("full") });
        return new Chain(before.planId, before);
      }
    }
    throw new Error("there is always room");
  }

  test("that is full refuses appends, and takes them when there is room again", async (context) => {
    const folder = aSmallDisk(context);
    writeFileSync(join(folder, "other"), Buffer.alloc(500_000));
    const outbox = await anOutbox({ path: join(folder, "outbox.db") });
    const chain = await fill(async (entries) => await outbox.append(entries), new Chain("plan-1"));
    await expect(outbox.append(new Chain("plan-1", chain.head).decisions(20))).rejects.toMatchObject({
      code: "ERR_AUDIT_WRITE",
    });
    expect(verifyChain(await outbox.entries("plan-1"), "plan-1").head).toEqual(chain.head);
    rmSync(join(folder, "other"));
    await outbox.append(chain.decisions(20));
    await outbox.append(chain.next(anOutcome));
    expect(verifyChain(await outbox.entries("plan-1"), "plan-1").head).toEqual(chain.head);
  });

  test("that is full leaves the room that uploaded entries had", async (context) => {
    const folder = aSmallDisk(context);
    const path = join(folder, "outbox.db");
    const first = await anOutbox({ path });
    await first.begin({ planId: "plan-1", upload: true });
    const uploaded = new Chain("plan-1");
    await first.append([...uploaded.decisions(200), ...uploaded.next(closed)]);
    first.startUpload({ ...QUICK, send: new EntryServer().send });
    await first.close();
    const outbox = await anOutbox({ path });
    const chain = new Chain("plan-2");
    for (let call = 0; call < 10; call++) await outbox.append(chain.decisions(1));
    expect(() => writeFileSync(join(folder, "other"), Buffer.alloc(2_000_000))).toThrow(/ENOSPC/);
    for (let call = 0; call < 50; call++) await outbox.append(chain.decisions(1));
    expect(verifyChain(await outbox.entries("plan-2"), "plan-2").head).toEqual(chain.head);
  });

  test("that is full lets a file be opened and read", async (context) => {
    const folder = aSmallDisk(context);
    const path = join(folder, "outbox.db");
    const first = await anOutbox({ path });
    const chain = await fill(async (entries) => await first.append(entries), new Chain("plan-1"));
    await first.close();
    const outbox = await anOutbox({ path });
    expect(verifyChain(await outbox.entries("plan-1"), "plan-1").head).toEqual(chain.head);
  });

  test("that is full blocks every call, and no tool runs", async () => {
    const outbox = await anOutbox({}, { maxPages: 16 });
    const gate = new LocalGate({ policy: aPolicy(), audit: outbox });
    const plan = await gate.sign({ ...aSignRequest(), plan: aPlan() });
    await fill(async (entries) => await outbox.append(entries), new Chain("filler"));
    const big = { to: "landlord", note: "x".repeat(100_000) };
    const decisions = await Promise.all(
      [1, 2, 3].map(async (n) => await gate.check(plan, { ...aGateCall(), callId: `${n}`, args: big })),
    );
    expect(decisions.map(summarize)).toEqual(Array(3).fill("block:audit_write_failed"));
  });

  test("that can only be read refuses to open", async (context) => {
    const folder = aSmallDisk(context);
    execFileSync("mount", ["-o", "remount,ro", folder]);
    const opened = openOutbox({ path: join(folder, "outbox.db") });
    await expect(opened).rejects.toMatchObject({ code: "ERR_OUTBOX" });
    await expect(opened).rejects.toThrow(/cannot be written \(.*read-only/i);
  });

  test("that can only be read refuses to open a file that is there", async (context) => {
    const folder = aSmallDisk(context);
    const path = join(folder, "outbox.db");
    await (await anOutbox({ path })).close();
    execFileSync("mount", ["-o", "remount,ro", folder]);
    await expect(openOutbox({ path })).rejects.toThrow(/cannot be written/);
  });
});

/** What the child did, in order: writes to the log of the file, finished syncs of it, and what it printed. */
type Step = "write" | "sync" | "round" | "ack";

function traceSteps(trace: string): Step[] {
  const unfinished = new Map<string, string>();
  const steps: Step[] = [];
  for (const line of trace.split("\n")) {
    const [thread = ""] = line.split(" ", 1);
    if (line.includes("<unfinished ...>")) unfinished.set(thread, line);
    const isResumed = line.includes(" resumed>");
    const call = isResumed ? (unfinished.get(thread) ?? "") : line;
    const isDone = isResumed || !line.includes("<unfinished ...>");
    if (/pwrite64\(\d+<[^>]*-wal>/.test(call) && !isResumed) steps.push("write");
    else if (/f(?:data)?sync\(\d+<[^>]*-wal>/.test(call) && isDone && line.endsWith("= 0")) steps.push("sync");
    else if (/ write\(1<.*"round/.test(line) && !isResumed) steps.push("round");
    else if (/ write\(1<.*"ack/.test(line) && !isResumed) steps.push("ack");
  }
  return steps;
}

test("everything that is written is synced before it is acknowledged", { timeout: 600_000 }, async (context) => {
  // A kill leaves what the kernel has been given: only this test knows a file that is not synced.
  if (spawnSync("strace", ["-f", "true"]).status !== 0) context.skip("strace is not here, or may not trace");
  const child = await buildChild();
  const log = aFile();
  const strace = ["-f", "-y", "-qq", "-e", "trace=fdatasync,fsync,pwrite64,write", "-o", log];
  const ran = spawnSync("strace", [...strace, process.execPath, child, "steps", aFile()], { encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stderr: "" });
  const steps = traceSteps(readFileSync(log, "utf8"));
  const faults: string[] = [];
  let [synced, wrote, acks, syncs] = [false, false, 0, 0];
  for (const step of steps) {
    if (step === "write") [synced, wrote] = [false, true];
    if (step === "round") [synced, wrote] = [false, false];
    if (step === "sync") [synced, syncs] = [wrote, syncs + 1];
    if (step === "ack") acks++;
    if (step === "ack" && !(wrote && synced)) faults.push(`ack ${acks}: ${wrote ? "not synced" : "not written"}`);
  }
  expect(faults).toEqual([]);
  expect(acks).toBe(20 + 5 * 50);
  // Fifty at a time share their syncs.
  expect(syncs).toBeLessThan(20 + 5 * 10 + 55);
});
