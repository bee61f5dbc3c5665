import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { LICENCES, listBundled, listRuntime, printLicences } from "./supply-chain/licences.ts";
import { readPart } from "./supply-chain/page-part.ts";

const runtime = listRuntime();
const bundled = listBundled();

describe("what comes with Intentlock", () => {
  test("is its dependencies and all that they need", () => {
    const names = runtime.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
    // One that pino needs, and one that only needs that.
    expect(names).toEqual(expect.arrayContaining(["thread-stream", "real-require"]));
    expect(names).not.toEqual(expect.arrayContaining(["vitest"]));
    expect(Object.keys(manifest.peerDependencies).filter((name) => names.includes(name))).toEqual([]);
  });

  test("is what the inbox page imports", () => {
    expect(bundled.map(({ name }) => name)).toEqual(expect.arrayContaining(["preact", "uplot", "@codemirror/view"]));
  });

  test.each([...runtime, ...bundled])("$name has a licence that asks for no more than its text", ({ licence }) => {
    expect(LICENCES).toContain(licence);
  });

  test.each(runtime)("$name runs nothing when it is installed", ({ hasInstallScript }) => {
    expect(hasInstallScript).toBe(false);
  });

  test("is what docs/supply-chain.md lists: npm run licences", () => {
    expect(readPart("licences")).toBe(printLicences());
  });

  test("has its licence texts in the page that was built, if one was", () => {
    const file = new URL("../dist/inbox/third-party-licenses.md", import.meta.url);
    if (!existsSync(file)) return;
    const built = [...readFileSync(file, "utf8").matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)].map(
      ([, name, version, licence]) => ({ name, version, licence }),
    );
    expect(built.length).toBeGreaterThan(5);
    const listed = bundled.map(({ name, version, licence }) => ({ name, version, licence }));
    expect(listed).toEqual(expect.arrayContaining(built));
  });
});

test("the size in the README is the one that was measured: npm run size", () => {
  const rows = readPart("size")
    .split("\n")
    .filter((line) => line.startsWith("| with "));
  expect(rows.map((row) => row.match(/with (.+?) \(/)?.[1])).toEqual([
    "Vercel AI SDK",
    "LangChain",
    "Mastra",
    "MCP SDK",
  ]);
  const [, , size, packages, added] = rows[0]?.split("|").map((cell) => cell.trim()) ?? [];
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(`${size} on disk in ${packages} packages, of which Intentlock adds ${added}`);
});
