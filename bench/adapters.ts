/**
 * What a lock adds to one tool call, and to the start of a run, in each framework, with a gate that says yes at once.
 * Run: `npm run bench:adapters`. See README.md.
 */
import { frameworks, type Kind } from "./adapters/frameworks.ts";
import { type Measurement, printOverheads } from "./adapters/report.ts";

const CALLS = 50;
const ROUNDS = 500;
const WARM_UP = 30;

const measured = new Map<string, Record<Kind, Measurement[]>>();
for (let round = -WARM_UP; round < ROUNDS; round++) {
  for (const { name, prepare } of frameworks) {
    const times = measured.get(name) ?? { bare: [], idle: [], locked: [] };
    measured.set(name, times);
    // Each in turn first: what the other leaves behind, garbage above all, falls on both. Nobody collects it in between: V8
    // forgets compiled code then, and most of what would be measured is compiling it again.
    const kinds: Kind[] = ["bare", "idle", "locked"];
    const first = Math.abs(round) % kinds.length;
    const order = [...kinds.slice(first), ...kinds.slice(0, first)];
    for (const kind of order) {
      const run = await prepare(kind, CALLS);
      const begun = performance.now();
      let firstStep = begun;
      await run(() => {
        firstStep = performance.now();
      });
      const perCallUs = ((performance.now() - firstStep) * 1000) / CALLS;
      if (round >= 0) times[kind].push({ perCallUs, startUs: (firstStep - begun) * 1000 });
    }
  }
}
console.log(`In µs, runs of ${CALLS} calls with ten a step; medians of ${ROUNDS} rounds\n`);
printOverheads(measured);
