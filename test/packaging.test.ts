import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { entries } from "../entries.ts";
import manifest from "../package.json" with { type: "json" };
import tsconfig from "../tsconfig.json" with { type: "json" };

const exported: Readonly<Record<string, unknown>> = manifest.exports;
const paths: Readonly<Record<string, unknown>> = tsconfig.compilerOptions.paths;

function subpath(name: string): string {
  return name === "index" ? "." : `./${name}`;
}

describe("the package's entries", () => {
  test.each(Object.entries(entries))(
    "%s is a file, is exported as what is built of it, and has its path",
    (name, file) => {
      expect(existsSync(fileURLToPath(new URL(`../${file}`, import.meta.url)))).toBe(true);
      expect(exported[subpath(name)]).toEqual({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
      expect(paths[`intentlock${subpath(name).slice(1)}`]).toEqual([`./${file}`]);
    },
  );

  test("are all that is exported, beside the manifest", () => {
    expect(new Set(Object.keys(exported))).toEqual(new Set([...Object.keys(entries).map(subpath), "./package.json"]));
    expect(Object.keys(paths)).toHaveLength(Object.keys(entries).length);
  });

  test("say what they are for before they say anything else", () => {
    expect(Object.keys(exported["."] as object)).toEqual(["types", "default"]);
    expect([manifest.type, manifest.sideEffects]).toEqual(["module", false]);
  });

  test.each(Object.entries(entries))("%s can be imported", async (name, file) => {
    const loaded: object = await import(new URL(`../${file}`, import.meta.url).href);
    expect(Object.keys(loaded).length, name).toBeGreaterThan(0);
    expect(loaded).not.toHaveProperty("default");
  });

  test("share their classes", async () => {
    const root = await import("intentlock");
    const core = await import("intentlock/core");
    const gates = await import("intentlock/gates");
    expect([root.IntentlockError, root.LocalGate]).toEqual([core.IntentlockError, gates.LocalGate]);
  });
});

describe("what is published", async () => {
  const root = new URL("..", import.meta.url);
  const argv = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await promisify(execFile)("npm", argv, { cwd: root, maxBuffer: 10_000_000 });
  const [packed] = JSON.parse(stdout) as { readonly files: readonly { readonly path: string }[] }[];
  const files = packed?.files.map(({ path }) => path) ?? [];

  test("has the documentation without its pictures, which would be most of it", () => {
    const pages = ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "docs/inbox.md", "docs/security.md"];
    expect(files).toEqual(expect.arrayContaining(pages));
    expect(files.filter((path) => /\.(png|jpe?g|gif|webp|mp4)$/i.test(path))).toEqual([]);
  });

  test("is programs, documentation and examples, and nothing else", () => {
    const others = files.filter((path) => !/^(?:dist|docs|examples)\/[^.]|^[A-Z]+\.md$|^LICENSE$/.test(path));
    expect(others).toEqual(["package.json"]);
    const kinds = new Set(files.filter((path) => !path.startsWith("dist/")).map((path) => path.split(".").at(-1)));
    expect([...kinds].toSorted()).toEqual(["LICENSE", "json", "md", "ts", "yaml"]);
  });

  test.each([
    ["tests", /\.(?:test|test-d|bench)\.|(?:^|\/)(?:test|fixtures|__snapshots__)\//],
    ["what a program has written", /\.(?:db|sqlite|log|tgz|tsbuildinfo|lock)(?:-|$)|package-lock/],
    ["keys and settings of a machine", /\.(?:pem|key|p12|env)$|(?:^|\/)\./],
    ["installed packages", /node_modules/],
  ])("has no %s", (_name, pattern) => {
    expect(files.filter((path) => pattern.test(path))).toEqual([]);
  });

  test("names no folder of the machine that it was built on, and has no key", () => {
    const folders = [fileURLToPath(root), `${homedir()}/`].filter((folder) => folder.length > 2);
    const told = files.filter((path) => {
      const text = readFileSync(new URL(path, root), "utf8");
      return folders.some((folder) => text.includes(folder)) || /-----BEGIN [A-Z ]*PRIVATE KEY/.test(text);
    });
    expect(told).toEqual([]);
  });

  test("runs nothing when it is installed", () => {
    const scripts = Object.keys(manifest.scripts);
    expect(scripts.filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });
});

describe("a bundle of an adapter", () => {
  const FRAMEWORKS = [
    "ai",
    "@ai-sdk/provider",
    "langchain",
    "@langchain/core",
    "@langchain/langgraph",
    "@mastra/core",
    "@modelcontextprotocol/sdk",
  ];

  test.each([
    ["core", []],
    ["gates", []],
    ["index", []],
    ["vercel-ai", ["ai"]],
    ["langchain", ["@langchain/core"]],
    ["langchain/middleware", ["langchain", "@langchain/core"]],
    ["mastra", ["@mastra/core"]],
    ["mcp", []],
    ["guard", ["ai"]],
  ])("of %s has its framework and no other", async (name, expected) => {
    const { metafile } = await build({
      entryPoints: [fileURLToPath(new URL(`../${entries[name]}`, import.meta.url))],
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
      write: false,
      metafile: true,
    });
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path));
    const isOf = (framework: string): boolean =>
      imports.some((path) => path === framework || path.startsWith(`${framework}/`));
    expect(FRAMEWORKS.filter(isOf)).toEqual(expected);
  });
});
