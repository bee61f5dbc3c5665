import { globSync, readFileSync } from "node:fs";
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

test("its statements have plain parameters: node:sqlite of Node.js 22 does not know ?1", () => {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const files = globSync("*.ts", { cwd: folder }).filter((file) => !file.endsWith(".test.ts"));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => /[(= ]\?[1-9]/.test(readFileSync(`${folder}${file}`, "utf8")))).toEqual([]);
});
