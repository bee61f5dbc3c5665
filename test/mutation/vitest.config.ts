import { env } from "node:process";
import root from "../../vitest.config.ts";

/** The repository's own, for some tests and without types: a mutant is not compiled. */
const { projects: _, ...test } = root.test ?? {};
export default {
  ...root,
  test: {
    ...test,
    include: env["INTENTLOCK_MUTATION_TESTS"]?.split(",") ?? ["src/**/*.test.ts"],
    setupFiles: ["test/mutation/worker-in-process.ts", "test/mutation/short-waits.ts"],
    testTimeout: 10_000,
  },
};
