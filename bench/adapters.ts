/**
 * What a lock adds to one tool call, and to the start of a run, in each framework, with a gate that says yes at once.
 * Run: `npm run bench:adapters`. See README.md.
 */
import { frameworks, type Kind } from "./adapters/frameworks.ts";
import { type Measurement, printOverheads } from "./adapters/report.ts";

const CALLS = 50;
const ROUNDS = 500;
const WARM_UP = 30;
/** Each kind is as often after each other: what a run leaves behind, garbage above all, falls on the next. */
const ORDERS: readonly Kind[][] = [
  ["bare", "idle", "locked"],
  ["locked", "idle", "bare"],
  ["idle", "locked", "bare"],
  ["bare", "locked", "idle"],
  ["locked", "bare", "idle"],
  ["idle", "bare", "locked"],
];

const measured = new Map<string, Record<Kind, Measurement[]>>();
for (let round = -WARM_UP; round < ROUNDS; round++) {
  for (const { name, prepare } of frameworks) {
    const times = measured.get(name) ?? { bare: [], idle: [], locked: [] };
    measured.set(name, times);
    // Nobody collects garbage in between: V8 forgets compiled code then, and most of what would be measured is compiling it
    // again.
    for (const kind of ORDERS[Math.abs(round) % ORDERS.length] ?? []) {
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
