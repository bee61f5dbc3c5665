import { env } from "node:process";
import { mergeConfig } from "vitest/config";
import root from "../../vitest.config.ts";

/** The repository's own, for some tests and without types: a mutant is not compiled. */
const config = mergeConfig(root, { test: { typecheck: { enabled: false } } });
const include = env["INTENTLOCK_MUTATION_TESTS"];
if (include) config.test.include = include.split(",");
export default config;
