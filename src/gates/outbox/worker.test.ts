import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("the worker is small: it has nothing but its own folder and Node.js in it", async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
    bundle: true,
    // What is imported counts here, not what is left of it.
    treeShaking: false,
    packages: "external",
    format: "esm",
    platform: "node",
    write: false,
    metafile: true,
  });
  const outside = Object.entries(metafile.inputs).flatMap(([file, { imports }]) => [
    ...(file.includes("/") ? [file] : []),
    ...imports.filter(({ path, external }) => external && !path.startsWith("node:")).map(({ path }) => path),
  ]);
  expect(outside).toEqual([]);
});
