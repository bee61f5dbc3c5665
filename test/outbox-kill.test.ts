import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openOutbox } from "../src/gates/outbox/index.ts";
import { type Acknowledged, buildChild, findLosses, listen } from "./fixtures/outbox-children.ts";
import { aFile, EntryServer, QUICK, withFile } from "./fixtures/outbox-files.ts";

const FILES = 2;
const KILLS_PER_FILE = 100;

/** One life: from the start to `kill -9` at a random moment, mostly while it writes. */
async function live(child: string, [path, url]: readonly [string, string]): Promise<Acknowledged[]> {
  const acks = `${path}-acks`;
  const started = spawn(process.execPath, [child, "load", path, url, acks], { stdio: ["ignore", "pipe", "inherit"] });
  const kill = (): boolean => started.kill("SIGKILL");
  onTestFinished(() => void kill());
  // Some do not get as far as to open the file.
  if (Math.random() < 0.1) setTimeout(kill, Math.random() * 150);
  started.stdout.once("data", () => setTimeout(kill, Math.random() * 150));
  await new Promise((resolve) => started.once("close", resolve));
  expect(started.signalCode ?? started.exitCode).toBe("SIGKILL");
  const lines = existsSync(acks) ? readFileSync(acks, "utf8").split("\n").filter(Boolean) : [];
  rmSync(acks, { force: true });
  return lines.map((line) => {
    const [planId = "", seq, callId = ""] = line.split(" ");
    return { planId, seq: Number(seq), callId };
  });
}

/** Lives on one file, one after another; after each it is looked at what is left. */
async function liveOften(child: string, path: string): Promise<void> {
  const server = new EntryServer();
  const url = await listen(server);
  const all: Acknowledged[] = [];
  for (let kill = 0; kill < KILLS_PER_FILE; kill++) {
    const acknowledged = await live(child, [path, url]);
    for (const one of acknowledged) all.push(one);
    expect(findLosses(path, server, acknowledged)).toEqual([]);
    expect(server.faults).toEqual([]);
  }
  // Who comes next uploads what all of them have left.
  const outbox = await openOutbox({ path });
  const send = async (batch: Parameters<EntryServer["take"]>[0]): Promise<string> => server.take(batch);
  const uploader = outbox.startUpload({ ...QUICK, send });
  expect(await uploader.flush({ timeoutMs: 60_000 })).toEqual({ waiting: 0, refused: 0 });
  await outbox.close();
  expect(server.faults).toEqual([]);
  withFile(path, (file) => file.exec("DELETE FROM entries"));
  expect(findLosses(path, server, all)).toEqual([]);
  expect(all.length).toBeGreaterThan(KILLS_PER_FILE);
  console.log(`${all.length} entries were acknowledged, ${server.batches.length} batches uploaded`);
}

test("kill -9 at 200 random moments: nothing acknowledged is lost, nothing is stored twice, chains verify", {
  timeout: 600_000,
}, async () => {
  const child = await buildChild();
  await Promise.all(Array.from({ length: FILES }, async () => await liveOften(child, aFile())));
});
