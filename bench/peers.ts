/**
 * The same policies in our engine and in those that one would take instead: first that all decide alike, then what it
 * takes. Run: `npm run bench:peers`, with `-- --save` for docs/benchmarks.md and `-- --rounds 3`. See peers/README.md.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { assertAgreement } from "./peers/agree.ts";
import { floor } from "./peers/engines/floor.ts";
import { libraries } from "./peers/engines/index.ts";
import { ours } from "./peers/engines/ours.ts";
import { featurePolicies, generateCalls } from "./peers/generate.ts";
import { type Sample, takeSample } from "./peers/measure.ts";
import { agreementTable, targetTable, timeTables } from "./peers/report.ts";
import { makeRows } from "./peers/subjects.ts";
import { reportResults } from "./results.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "7" }, save: { type: "boolean" } },
});

const folder = fileURLToPath(new URL("peers/", import.meta.url));
if (!existsSync(`${folder}node_modules`)) {
  execFileSync("npm", ["ci", "--no-progress", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
}

const others = [...libraries, floor];
const agreements = await assertAgreement({
  reference: ours,
  engines: others,
  policies: featurePolicies(),
  calls: generateCalls(500),
});
const rows = await makeRows([ours, ...others]);
const measured = rows.map(({ subjects, ...row }) => ({
  ...row,
  samples: new Map([...subjects.keys()].map((name): [string, Sample[]] => [name, []])),
}));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [index, { subjects }] of rows.entries()) {
    // Each round begins with another engine, so that none is always the one after the slowest.
    const names = [...subjects.keys()];
    for (const name of [...names.slice(round % names.length), ...names.slice(0, round % names.length)]) {
      const subject = subjects.get(name);
      if (subject) measured[index]?.samples.get(name)?.push(await takeSample(subject));
    }
  }
}
const input = { ours: ours.name, floor: floor.name, libraries: libraries.map(({ name }) => name), measured };
const targets = targetTable(input);
reportResults("peers", {
  tables: [agreementTable(agreements), ...timeTables(input), targets],
  figures: Object.fromEntries(targets.rows.map(([what, value]) => [what, value ?? ""])),
});
