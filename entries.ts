/** The package's subpath exports, by the name that `import "intentlock/NAME"` takes; `index` is the root. One map for the build, the tests and the export check. */
export const entries: Readonly<Record<string, string>> = {
  index: "src/index.ts",
  core: "src/core/index.ts",
  gates: "src/gates/index.ts",
  "vercel-ai": "src/adapters/vercel-ai/index.ts",
  langchain: "src/adapters/langchain/index.ts",
  "langchain/middleware": "src/adapters/langchain/middleware.ts",
  mastra: "src/adapters/mastra/index.ts",
  mcp: "src/adapters/mcp/index.ts",
  guard: "src/guard/index.ts",
  server: "src/server/index.ts",
};
