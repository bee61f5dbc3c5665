import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Snippet {
  readonly name: string;
  readonly code: string;
}

/** The TypeScript in a Markdown page: each fenced block is a program of its own. */
function snippetsOfPage(file: string): Snippet[] {
  const blocks = readFileSync(join(root, file), "utf8").matchAll(/^```ts\n(.*?)^```$/gms);
  return [...blocks].map(([, code = ""], index) => ({ name: `${file} block ${index + 1}`, code }));
}

/** The `@example` of each docstring, up to the next tag. */
function snippetsOfSource(file: string): Snippet[] {
  const comments = readFileSync(join(root, file), "utf8").matchAll(/^ *\/\*\*$(.*?)^ *\*\/$/gms);
  return [...comments].flatMap(([, comment = ""]) => {
    const text = comment.replaceAll(/^ *\* ?/gm, "");
    return [...text.matchAll(/^@example\n(.*?)(?=^@|$(?![\s\S]))/gms)].map(([, code = ""], index) => ({
      name: `${file} @example ${index + 1}`,
      code,
    }));
  });
}

function findProblems(snippets: readonly Snippet[]): string[] {
  const config = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const files = new Map(
    snippets.map(({ code }, index) => [join(root, `test/snippet-${index}.ts`), `${code}\nexport {};\n`]),
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  const original = host.getSourceFile.bind(host);
  host.getSourceFile = (file, target, ...rest) => {
    const code = files.get(file);
    return code === undefined ? original(file, target, ...rest) : ts.createSourceFile(file, code, target);
  };
  const prelude = join(root, "test/documentation-prelude.d.ts");
  const program = ts.createProgram(
    [prelude, ...files.keys()],
    { ...options, isolatedDeclarations: false, declaration: false },
    host,
  );
  return [...files.keys()].flatMap((file, index) => {
    const source = program.getSourceFile(file);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText, start = 0 }) => {
      const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
      return `${snippets[index]?.name}, line ${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
  });
}

const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: root })];
const sources = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
const snippets = [...pages.flatMap(snippetsOfPage), ...sources.flatMap(snippetsOfSource)];

test("the code in pages and docstrings compiles", { timeout: 120_000 }, () => {
  expect(snippets.length).toBeGreaterThan(10);
  expect(findProblems(snippets)).toEqual([]);
});

test("a snippet that does not compile is found", { timeout: 120_000 }, () => {
  const wrong = { name: "wrong", code: 'import { parsePolicy } from "intentlock/core";\nparsePolicy(42);' };
  expect(findProblems([wrong])).toEqual([expect.stringContaining("wrong, line 2: Argument of type 'number'")]);
});

test.each(pages)("the links and pictures of %s lead somewhere", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const found = text.matchAll(/\]\((?!https?:|#)([^)#]+)|<(?:img|source)[^>]* src(?:set)?="(?!https?:)([^"]+)"/g);
  const links = [...found].map(([, link, picture]) => link ?? picture ?? "");
  const missing = links.filter(
    (link) => globSync(relative(root, join(root, dirname(page), link)) || ".", { cwd: root }).length === 0,
  );
  expect(missing).toEqual([]);
});
