import { defineConfig } from "tsup";
import { bundledWorker } from "./bundle-worker.ts";
import { entries } from "./entries.ts";

// One config with one entry map: the subpaths share chunks, so that a class of core is the same class everywhere.
export default defineConfig({
  entry: { ...entries },
  format: "esm",
  target: "node22",
  platform: "neutral",
  splitting: true,
  clean: true,
  dts: true,
  external: [/^node:/],
  esbuildPlugins: [bundledWorker],
});
