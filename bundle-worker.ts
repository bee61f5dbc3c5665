import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

/**
 * Puts the outbox's worker into what is built, as text: `src/gates/outbox/worker-url.ts` says why. For tsup, and for
 * every other esbuild of the sources.
 */
export const bundledWorker: Plugin = {
  name: "bundled-worker",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]gates[\\/]outbox[\\/]worker-url\.ts$/ }, async () => {
      const { outputFiles } = await build({
        entryPoints: [fileURLToPath(new URL("src/gates/outbox/worker.ts", import.meta.url))],
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node22",
        minify: true,
        write: false,
      });
      const url = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? "")}`;
      return { contents: `export const workerUrl = () => new URL(${JSON.stringify(url)});`, loader: "js" };
    });
  },
};
