import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

/** A test where it is copied to: into the folder that has the lowest versions. */
const lowest = new URL("../../../", import.meta.url);
const ranges: Readonly<Record<string, string>> = manifest.peerDependencies;

test.each([
  ["ai", "ai"],
  ["langchain", "langchain"],
  ["@langchain/core", "@langchain/core/tools"],
  ["@langchain/langgraph", "@langchain/langgraph"],
  ["@mastra/core", "@mastra/core/agent"],
  ["@modelcontextprotocol/sdk", "@modelcontextprotocol/sdk/server/index.js"],
])("%s is the lowest version that is supported", (name, specifier) => {
  const folder = new URL(`node_modules/${name}/`, lowest);
  expect(pathToFileURL(createRequire(import.meta.url).resolve(specifier)).href).toContain(folder.href);
  const { version } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as { readonly version: string };
  // LangGraph is no peer: what is known of it is how its errors and configurations look.
  expect(ranges[name] ?? `^${version}`).toBe(`^${version}`);
});
