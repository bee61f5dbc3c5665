import { median } from "../check/measure.ts";

/** What is timed: `run` is called with what `make` gave, which is made outside of the time. */
export interface Timed {
  readonly make: () => unknown;
  readonly run: (input: never) => unknown;
}

export interface Sample {
  /** Of one call, over the median batch. */
  readonly medianNs: number;
  /** Of calls timed one by one, which costs each some 50 ns more. */
  readonly p99Ns: number;
}

const BATCH_NS = 1_000_000;
const BATCHES = 9;
const WARM_UP_MS = 15;
const MOST_SINGLES = 2000;
const SINGLES_MS = 15;

/** Takes one sample. Calls that answer later are awaited, one after the other. */
export async function takeSample(subject: Timed): Promise<Sample> {
  const run = subject.run as (input: unknown) => unknown;
  let perCallNs = await warmUp(subject.make, run);
  const means: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const inputs = Array.from({ length: Math.max(1, Math.min(4096, Math.floor(BATCH_NS / perCallNs))) }, subject.make);
    perCallNs = (await timeAll(inputs, run)) / inputs.length;
    means.push(perCallNs);
  }
  const singles: number[] = [];
  const until = performance.now() + SINGLES_MS;
  while (singles.length < 100 || (singles.length < MOST_SINGLES && performance.now() < until)) {
    singles.push(await timeAll([subject.make()], run));
  }
  singles.sort((one, other) => one - other);
  return { medianNs: median(means), p99Ns: singles[Math.floor(singles.length * 0.99)] ?? Number.NaN };
}

/** @returns nanoseconds of a call, about */
async function warmUp(make: () => unknown, run: (input: unknown) => unknown): Promise<number> {
  const until = performance.now() + WARM_UP_MS;
  let perCallNs = 0;
  for (let count = 1; performance.now() < until || count <= 2; count = Math.min(512, count * 2)) {
    perCallNs = (await timeAll(Array.from({ length: count }, make), run)) / count;
  }
  return Math.max(1, perCallNs);
}

let last: unknown;

/** Nanoseconds of all calls together. */
async function timeAll(inputs: readonly unknown[], run: (input: unknown) => unknown): Promise<number> {
  const started = performance.now();
  last = run(inputs[0]);
  if (last instanceof Promise) {
    await last;
    for (let at = 1; at < inputs.length; at++) last = await run(inputs[at]);
  } else {
    for (let at = 1; at < inputs.length; at++) last = run(inputs[at]);
  }
  return (performance.now() - started) * 1e6;
}
