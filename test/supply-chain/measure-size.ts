/**
 * Installs the package as it would be published, alone and with each framework, in folders of their own, and writes what
 * that takes into docs/supply-chain.md: npm run size
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import { writePart } from "./page-part.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const developed: Readonly<Record<string, string>> = manifest.devDependencies;

/** Each with what an application of it installs anyway. */
const FRAMEWORKS: readonly (readonly [name: string, packages: readonly string[]])[] = [
  ["Vercel AI SDK", ["ai"]],
  ["LangChain", ["langchain", "@langchain/core"]],
  ["Mastra", ["@mastra/core"]],
  ["MCP SDK", ["@modelcontextprotocol/sdk"]],
];

interface Size {
  readonly bytes: number;
  readonly packages: number;
}

function npm(argv: readonly string[], cwd: string): string {
  return execFileSync("npm", argv, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

function install(folder: string, packages: readonly string[]): Size {
  const cwd = mkdtempSync(join(folder, "app-"));
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ private: true, type: "module" }));
  npm(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", ...packages], cwd);
  const lines = npm(["ls", "--all", "--parseable"], cwd).trim().split("\n");
  return { bytes: sizeOf(join(cwd, "node_modules")), packages: new Set(lines).size - 1 };
}

/** Of all files in it, as they are. */
function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== ".package-lock.json")
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const folder = mkdtempSync(join(tmpdir(), "intentlock-size-"));
try {
  const [packed] = JSON.parse(npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root));
  const tarball = join(folder, packed.filename);
  const alone = install(folder, [tarball]);
  const rows = FRAMEWORKS.map(([name, packages]) => {
    const wanted = packages.map((one) => `${one}@${developed[one]}`);
    const [without, together] = [install(folder, wanted), install(folder, [...wanted, tarball])];
    const added = `${megabytes(together.bytes - without.bytes)}, ${together.packages - without.packages} packages`;
    const list = packages.map((one) => `\`${one}\``).join(", ");
    return `| with ${name} (${list}) | ${megabytes(together.bytes)} | ${together.packages} | ${added} |`;
  });
  const text = [
    `Version ${manifest.version}: ${megabytes(packed.size)} to download, ${megabytes(packed.unpackedSize)} unpacked, ${packed.entryCount} files.`,
    "",
    "| | on disk | packages | of which Intentlock adds |",
    "|---|---|---|---|",
    `| \`intentlock\` alone | ${megabytes(alone.bytes)} | ${alone.packages} | ${megabytes(alone.bytes)}, ${alone.packages} packages |`,
    ...rows,
  ].join("\n");
  writePart("size", text);
  console.log(text);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
