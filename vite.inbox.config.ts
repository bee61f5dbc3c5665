import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { limitFirstPage } from "./first-page-size.ts";

/** Who answers the API in development. */
const SERVER = process.env["INTENTLOCK_URL"] ?? "http://127.0.0.1:4700";

/** The inbox as it is served: `dist/inbox/`, after tsup has emptied `dist/`. */
export default defineConfig({
  root: fileURLToPath(new URL("src/server/inbox/web", import.meta.url)),
  base: "/",
  publicDir: false,
  plugins: [limitFirstPage(150_000)],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("dist/inbox", import.meta.url)),
    emptyOutDir: true,
    // Everything has an address of its own: the page's security policy takes no inline script, style or data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "third-party-licenses.md" },
    reportCompressedSize: false,
  },
  // The server takes what changes something from its own pages alone: for development, this is one.
  server: { proxy: { "/v1": { target: SERVER, headers: { origin: SERVER } } } },
});
