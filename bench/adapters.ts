/**
 * What a lock adds to one tool call, in each framework, with a gate that says yes at once. Run: `npm run bench:adapters`.
 * See README.md.
 */
import { frameworks, type Kind } from "./adapters/frameworks.ts";
import { printOverheads } from "./adapters/report.ts";

const CALLS = 200;
const ROUNDS = 15;
const WARM_UP = 3;

type Times = Readonly<Record<Kind, number[]>>;

const measured = new Map<string, Times>();
for (let round = -WARM_UP; round < ROUNDS; round++) {
  for (const { name, prepare } of frameworks) {
    const times = measured.get(name) ?? { bare: [], idle: [], locked: [] };
    measured.set(name, times);
    // Each in turn first: what the other leaves behind, garbage above all, falls on both.
    const kinds: Kind[] = ["bare", "idle", "locked"];
    const first = Math.abs(round) % kinds.length;
    const order = [...kinds.slice(first), ...kinds.slice(0, first)];
    for (const kind of order) {
      const run = await prepare(kind, CALLS);
      const started = performance.now();
      await run();
      const perCallUs = ((performance.now() - started) * 1000) / CALLS;
      if (round >= 0) times[kind].push(perCallUs);
    }
  }
}
console.log(`One tool call, in µs, in a run of ${CALLS} with ten a step; medians of ${ROUNDS} rounds\n`);
printOverheads(measured);
