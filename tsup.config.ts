import { defineConfig } from "tsup";
import { bundledWorker } from "./bundle-worker.ts";
import { entries } from "./entries.ts";

// One config with one entry map: the subpaths share chunks, so that a class of core is the same class everywhere.
export default defineConfig({
  // The command line is a program and no export: it has no types.
  entry: { ...entries, cli: "src/cli/main.ts" },
  format: "esm",
  target: "node22",
  platform: "neutral",
  splitting: true,
  clean: true,
  dts: { entry: { ...entries } },
  external: [/^node:/],
  esbuildPlugins: [bundledWorker],
});
