import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll } from "vitest";

/** Builds the page as it is now into a folder that goes with the test file: what is in `dist/` may be of yesterday. */
export async function buildInbox(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), "inbox-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  await build({ configFile: "vite.inbox.config.ts", logLevel: "error", build: { outDir: folder } });
  return pathToFileURL(`${folder}/`);
}
