import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));

/** What a folder may import beside itself: the last column of the table in design.md, section 2. */
interface Layer {
  readonly folders?: readonly string[];
  /** Folders of which it may know the types, and nothing that runs. */
  readonly types?: readonly string[];
  /** Files of other folders that it may run all the same: they are small, and import hardly anything. */
  readonly files?: readonly string[];
  readonly libraries?: readonly string[];
  /** It needs Node.js, and may say so. */
  readonly node?: boolean;
}

const PROVIDERS = ["@ai-sdk/anthropic", "@ai-sdk/google", "@ai-sdk/openai", "@ai-sdk/openai-compatible"];

const LAYERS: Readonly<Record<string, Layer>> = {
  core: { libraries: ["@noble/hashes", "canonicalize", "jose", "minimatch", "re2js", "yaml", "zod"] },
  gates: { folders: ["core"], node: true },
  session: { folders: ["core"], types: ["gates"], libraries: ["zod"] },
  "adapters/vercel-ai": adapter("ai", "@ai-sdk/provider"),
  "adapters/langchain": { ...adapter("@langchain/core", "langchain"), node: true },
  "adapters/mastra": { ...adapter("@mastra/core"), node: true },
  "adapters/mcp": adapter("@modelcontextprotocol/sdk", "ajv", "ajv-formats"),
  guard: { folders: ["core", "session", "gates", "adapters/vercel-ai"], libraries: ["ai", ...PROVIDERS, "zod"] },
  server: { folders: ["core"], libraries: ["hono", "@hono/node-server", "kysely", "pg", "pino", "zod"], node: true },
  // The browser's side: what it runs is sent to everybody who opens the page.
  "server/inbox/web": {
    types: ["core"],
    files: ["core/hidden-characters.ts", "core/json-pointer.ts", "core/json.ts", "core/verdict.ts"],
    libraries: [...["preact", "@preact/signals", "preact-iso", "uplot"], ...["codemirror", "@codemirror", "@lezer"]],
  },
  cli: {
    folders: ["core", "gates", "session", "adapters/mcp", "server"],
    libraries: ["commander", "pino", "zod"],
    node: true,
  },
  // The root: what is exported as `intentlock`.
  "": { folders: ["core", "gates", "session"] },
};

/** Every adapter is over the session, and speaks in the words of core: errors, JSON, decisions. */
function adapter(...libraries: readonly string[]): Layer {
  return { folders: ["core", "session"], types: ["gates"], libraries: [...libraries, "zod"] };
}

interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typesOnly: boolean;
}

/** The imports and re-exports of a source text, also `import()` and `import("x").Type`. */
function listImports(file: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, typesOnly: boolean): void => {
    const isText = node && ts.isStringLiteralLike(node);
    found.push({ file, specifier: isText ? node.text : "(not a text)", typesOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeImport(node.importClause));
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node.moduleSpecifier, isTypeExport(node));
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    else if (ts.isCallExpression(node) && isLoader(node.expression)) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = clause;
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}

function isTypeExport({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return true;
  return (
    exportClause !== undefined &&
    ts.isNamedExports(exportClause) &&
    exportClause.elements.every((one) => one.isTypeOnly)
  );
}

function isLoader(expression: ts.Expression): boolean {
  return (
    expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(expression) && expression.text === "require")
  );
}

/** The layer that a file of src/ is in: the longest name that it begins with. */
function layerOf(file: string): string | undefined {
  const folder = dirname(file).split(sep).join("/");
  if (folder === ".") return "";
  const names = Object.keys(LAYERS).filter((name) => name !== "" && (folder === name || folder.startsWith(`${name}/`)));
  return names.sort((a, b) => b.length - a.length)[0];
}

/** What is wrong with an import, in words; undefined if nothing is. */
function findFault({ file, specifier, typesOnly }: Import): string | undefined {
  const name = layerOf(file);
  const layer = name === undefined ? undefined : LAYERS[name];
  if (!layer) return "is in a folder that the table does not have";
  if (specifier.startsWith("node:")) return layer.node ? undefined : "needs Node.js";
  if (!specifier.startsWith(".")) {
    const known = layer.libraries?.some((library) => specifier === library || specifier.startsWith(`${library}/`));
    return known ? undefined : "is not one of the folder's libraries";
  }
  const target = relative(SRC, join(SRC, dirname(file), specifier));
  if (target.startsWith("..")) return "is outside of src/";
  const other = layerOf(target);
  if (other === name || (other !== undefined && layer.folders?.includes(other))) return undefined;
  if (layer.files?.includes(target.split(sep).join("/"))) return undefined;
  if (other !== undefined && layer.types?.includes(other))
    return typesOnly ? undefined : "may be known by its types only";
  return "is not one of the folders that it may import";
}

const sources = globSync("**/*.{ts,tsx}", { cwd: SRC }).filter((file) => !/\.test(?:-d)?\.ts$/.test(file));
const imports = sources.flatMap((file) => listImports(file, readFileSync(join(SRC, file), "utf8")));

describe("the folders of src/", () => {
  test("import what they may, and nothing else", () => {
    const faults = imports.flatMap((one) => {
      const fault = findFault(one);
      return fault ? [`${one.file}: ${one.specifier} ${fault}`] : [];
    });
    expect(faults).toEqual([]);
  });

  test("are all looked at", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(new Set(imports.map(({ file }) => layerOf(file)))).toEqual(new Set(sources.map((file) => layerOf(file))));
  });
});

describe("this test", () => {
  test.each<[string, string, string]>([
    ["core/a.ts", 'import fs from "node:fs";', "needs Node.js"],
    ["core/a.ts", 'import "../gates/index.ts";', "is not one of the folders that it may import"],
    ["core/a.ts", 'import type { Gate } from "../gates/gate.ts";', "is not one of the folders that it may import"],
    ["core/a.ts", 'export * from "ai";', "is not one of the folder's libraries"],
    ["core/a.ts", 'const ai = await import("ai");', "is not one of the folder's libraries"],
    ["core/a.ts", 'type Ai = import("ai").Tool;', "is not one of the folder's libraries"],
    ["core/a.ts", "const any = await import(name);", "is not one of the folder's libraries"],
    ["core/a.ts", 'import x from "../../entries.ts";', "is outside of src/"],
    ["core/deep/a.ts", 'import "../../session/session.ts";', "is not one of the folders that it may import"],
    ["gates/a.ts", 'import { Session } from "../session/index.ts";', "is not one of the folders that it may import"],
    ["session/a.ts", 'import { LocalGate } from "../gates/index.ts";', "may be known by its types only"],
    ["session/a.ts", 'import { type Gate, LocalGate } from "../gates/index.ts";', "may be known by its types only"],
    ["session/a.ts", 'export { LocalGate } from "../gates/index.ts";', "may be known by its types only"],
    ["session/a.ts", 'import "../gates/index.ts";', "may be known by its types only"],
    ["session/a.ts", 'import { tool } from "ai";', "is not one of the folder's libraries"],
    [
      "session/a.ts",
      'import { x } from "../adapters/vercel-ai/index.ts";',
      "is not one of the folders that it may import",
    ],
    ["adapters/vercel-ai/a.ts", 'import { x } from "langchain";', "is not one of the folder's libraries"],
    ["adapters/vercel-ai/a.ts", 'import { x } from "airtable";', "is not one of the folder's libraries"],
    ["adapters/mcp/a.ts", 'import { x } from "../vercel-ai/index.ts";', "is not one of the folders that it may import"],
    ["adapters/new/a.ts", 'import { x } from "../../session/index.ts";', "is in a folder that the table does not have"],
    ["server/a.ts", 'import { x } from "../gates/index.ts";', "is not one of the folders that it may import"],
    ["cli/a.ts", 'import { tool } from "ai";', "is not one of the folder's libraries"],
    ["cli/a.ts", 'import manifest from "../../package.json";', "is outside of src/"],
    ["server/a.ts", 'import { runCli } from "../cli/run-cli.ts";', "is not one of the folders that it may import"],
    ["server/a.ts", 'import { App } from "./inbox/web/app.tsx";', "is not one of the folders that it may import"],
    ["server/inbox/a.ts", 'import "./web/main.tsx";', "is not one of the folders that it may import"],
    ["server/inbox/web/a.tsx", 'import { x } from "../serve.ts";', "is not one of the folders that it may import"],
    ["server/inbox/web/a.tsx", 'import { z } from "zod";', "is not one of the folder's libraries"],
    ["server/inbox/web/a.tsx", 'import { x } from "../../../core/api/holds.ts";', "may be known by its types only"],
    ["server/inbox/web/a.tsx", 'import "node:fs";', "needs Node.js"],
    ["index.ts", 'export * from "./adapters/vercel-ai/index.ts";', "is not one of the folders that it may import"],
  ])("finds fault with %s: %s", (file, text, fault) => {
    expect(listImports(file, text).map(findFault)).toEqual([fault]);
  });

  test.each<[string, string]>([
    ["core/a.ts", 'import { z } from "zod"; import { sha256 } from "@noble/hashes/sha2.js"; export * from "./b.ts";'],
    ["gates/a.ts", 'import { hash } from "node:crypto"; import { check } from "../core/index.ts";'],
    [
      "session/a.ts",
      'import type { Gate } from "../gates/gate.ts"; import { type A, type B } from "../gates/index.ts";',
    ],
    ["session/a.ts", 'type Gate = import("../gates/gate.ts").Gate;'],
    ["adapters/vercel-ai/a.ts", 'import { tool } from "ai"; import { Session } from "../../session/index.ts";'],
    [
      "server/inbox/web/parts/a.tsx",
      'import { jsonEqual } from "../../../../core/json.ts"; import type { Api } from "../../../../core/api/index.ts"; import { EditorView } from "@codemirror/view";',
    ],
    ["index.ts", 'export * from "./core/index.ts"; export * from "./gates/index.ts";'],
  ])("finds none with %s: %s", (file, text) => {
    const found = listImports(file, text);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map(findFault).filter(Boolean)).toEqual([]);
  });
});
