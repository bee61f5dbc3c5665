import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { openOutbox } from "../src/gates/outbox/index.ts";
import { type Acknowledged, buildChild, findLosses, listen } from "./fixtures/outbox-children.ts";
import { aFile, EntryServer, QUICK, withFile } from "./fixtures/outbox-files.ts";

const FILES = 2;
const KILLS_PER_FILE = 100;

interface Child {
  readonly process: ChildProcess;
  readonly ready: Promise<void>;
  /** What it has been told is stored, so far. */
  readonly acknowledged: () => Acknowledged[];
  /** Waits until it was killed. */
  readonly end: () => Promise<void>;
}

function start(child: string, path: string, url: string): Child {
  const acks = aFile();
  const started = spawn(process.execPath, [child, "load", path, url, acks], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void started.kill("SIGKILL"));
  const closed = new Promise((resolve) => started.once("close", resolve));
  return {
    process: started,
    ready: new Promise((resolve) => started.stdout.once("data", () => resolve())),
    acknowledged: () =>
      (existsSync(acks) ? readFileSync(acks, "utf8").split("\n").slice(0, -1) : []).map((line) => {
        const [planId = "", seq, callId = ""] = line.split(" ");
        return { planId, seq: Number(seq), callId };
      }),
    end: async () => {
      await closed;
      expect(started.signalCode ?? started.exitCode).toBe("SIGKILL");
    },
  };
}

/** One life: from the start to `kill -9` at a random moment, mostly while it writes. */
async function live(...given: Parameters<typeof start>): Promise<Acknowledged[]> {
  const child = start(...given);
  const kill = (): boolean => child.process.kill("SIGKILL");
  // Some do not get as far as to open the file.
  if (Math.random() < 0.1) setTimeout(kill, Math.random() * 150);
  void child.ready.then(() => setTimeout(kill, Math.random() * 150));
  await child.end();
  return child.acknowledged();
}

/** Lives on one file, one after another; after each it is looked at what is left. */
async function liveOften(child: string, path: string): Promise<void> {
  const server = new EntryServer();
  const url = await listen(server);
  const all: Acknowledged[] = [];
  for (let kill = 0; kill < KILLS_PER_FILE; kill++) {
    const acknowledged = await live(child, path, url);
    for (const one of acknowledged) all.push(one);
    expect(findLosses(path, server, acknowledged)).toEqual([]);
    expect(server.faults).toEqual([]);
  }
  expect(all.length).toBeGreaterThan(KILLS_PER_FILE);
  await uploadTheRest(path, server, all);
}

/** Who comes next uploads what all of them have left: then the server has everything. */
async function uploadTheRest(path: string, server: EntryServer, acknowledged: Acknowledged[]): Promise<void> {
  const outbox = await openOutbox({ path });
  const uploader = outbox.startUpload({ ...QUICK, send: server.send });
  expect(await uploader.flush({ timeoutMs: 60_000 })).toEqual({ waiting: 0, refused: 0 });
  await outbox.close();
  withFile(path, (file) => file.exec("DELETE FROM entries"));
  expect(findLosses(path, server, acknowledged)).toEqual([]);
  expect(server.faults).toEqual([]);
}

test("kill -9 at 200 random moments: nothing acknowledged is lost, nothing is stored twice, chains verify", {
  timeout: 600_000,
}, async () => {
  const child = await buildChild();
  await Promise.all(Array.from({ length: FILES }, async () => await liveOften(child, aFile())));
});

test("three processes on one file, which die one after the other", { timeout: 600_000 }, async () => {
  const [program, path, server] = [await buildChild(), aFile(), new EntryServer()];
  const url = await listen(server);
  const children = [1, 2, 3].map(() => start(program, path, url));
  for (const child of children) {
    const before = children.map((other) => other.acknowledged().length);
    // All that are left get on with their work.
    const left = children.slice(children.indexOf(child));
    await vi.waitUntil(
      () => left.every((one) => one.acknowledged().length > (before[children.indexOf(one)] ?? 0) + 50),
      {
        timeout: 120_000,
      },
    );
    child.process.kill("SIGKILL");
    await child.end();
  }
  const all = children.flatMap((child) => child.acknowledged());
  expect(findLosses(path, server, all)).toEqual([]);
  await uploadTheRest(path, server, all);
});
