import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { entries } from "./entries.ts";

const alias = Object.entries(entries).map(([name, file]) => ({
  find: new RegExp(`^intentlock${name === "index" ? "" : `/${name}`}$`),
  replacement: fileURLToPath(new URL(file, import.meta.url)),
}));

/** Files that change the process that they run in. */
const CHANGING = [
  "src/adapters/langchain/tripwire.test.ts",
  "src/cli/main.test.ts",
  // Its timers do not go back to what they were.
  "src/guard/model-servers.test.ts",
];
/** And those that replace a module, which another file may have loaded already. */
const MOCKING = globSync("src/**/*.test.ts", { cwd: import.meta.dirname }).filter((file) =>
  /\bvi\.(?:mock|doMock|resetModules)\(/.test(readFileSync(join(import.meta.dirname, file), "utf8")),
);
const ALONE = [...CHANGING, ...MOCKING];

export default defineConfig({
  resolve: { alias },
  test: {
    // A file waits for its imports most of the time: on two cores, two at once take less than one after the other.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    exclude: ["test/peers/lowest/**", "test/mutation/**"],
    // Frameworks log every refusal at length: what a test prints is shown if it fails.
    silent: "passed-only",
    // Nothing is measured here: what is slow on a busy machine is not wrong.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      // To load what a file imports takes longer than most files: in one worker they load it once.
      { extends: true, test: { name: "shared", isolate: false, include: ["src/**/*.test.ts"], exclude: ALONE } },
      {
        extends: true,
        test: {
          name: "alone",
          include: ["test/**/*.test.ts", ...ALONE],
          typecheck: { enabled: true, include: ["src/**/*.test-d.ts", "test/**/*.test-d.ts"] },
        },
      },
    ],
  },
});
