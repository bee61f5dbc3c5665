import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Threads in which somebody describes how a tool ran that should not have, or a person's word was lost. */
const THREADS = [
  "vercel/ai#15947",
  "vercel/ai#16900",
  "vercel/ai#17493",
  "vercel/ai#16902",
  "vercel/ai#12878",
  "vercel/ai#11001",
  "langchainjs#11125",
  "langchainjs#11154",
  "langchainjs#10090",
  "langchain#40166",
  "langchain#40491",
  "langchain#38722",
  "langgraph#6624",
  "deepagents#2946",
  "mastra#19633",
  "mastra#20487",
  "mastra#20934",
  "mastra#19301",
  "mastra#15776",
  "mastra#14996",
  "openai-agents-js#1511",
  "LibreChat#15933",
  "TanStack/ai#965",
  "extra-org/extra#139",
];

const folder = new URL(".", import.meta.url);
const files = globSync("*.test.ts", { cwd: folder }).filter((file) => file !== "every-thread.test.ts");
/** What tests and their groups begin with. */
const names = files.flatMap((file) =>
  [...readFileSync(new URL(file, folder), "utf8").matchAll(/"([\w/-]+#\d+): /g)].map(([, name = ""]) => name),
);

test.each(THREADS)("%s has a test of its name", (thread) => {
  expect(names).toContain(thread);
});

test("there is no test of a thread that is not listed", () => {
  expect(names.filter((name) => !THREADS.includes(name))).toEqual([]);
});
