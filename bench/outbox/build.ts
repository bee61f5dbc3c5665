import { rmSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundledWorker } from "../../bundle-worker.ts";

const built = fileURLToPath(new URL("../../node_modules/.cache/outbox-bench.mjs", import.meta.url));

export type Built = Pick<typeof import("../../src/gates/outbox/outbox.ts"), "openTrialOutbox"> &
  Pick<typeof import("../../src/core/index.ts"), "chainEntry" | "startChain"> &
  Pick<typeof import("../../src/gates/node-sha256.ts"), "nodeSha256">;

/** The outbox as the package is built, with the door for trials that is not exported: a slow disk comes through it. */
export async function buildOutbox(): Promise<Built> {
  await build({
    stdin: {
      resolveDir: fileURLToPath(new URL("../../src", import.meta.url)),
      loader: "ts",
      contents: `
        export { openTrialOutbox } from "./gates/outbox/outbox.ts";
        export { chainEntry, startChain } from "./core/index.ts";
        export { nodeSha256 } from "./gates/node-sha256.ts";`,
    },
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node22",
    outfile: built,
    plugins: [bundledWorker],
    logLevel: "error",
  });
  const loaded = (await import(pathToFileURL(built).href)) as Built;
  rmSync(built);
  return loaded;
}
