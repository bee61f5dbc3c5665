import { do_not_optimize, measure } from "mitata";

/** Something to be timed: `run` is called with what `make` gave, which is made outside the time. */
export interface Subject<Input> {
  readonly make: () => Input;
  readonly run: (input: Input) => unknown;
}

/** Measures a subject once: nanoseconds of one call, the median of many batches. */
export type Measurement = () => Promise<number>;

const BATCH_NS = 1_000_000;
const MIN_CPU_NS = 5_000_000;
const WARM_UP_NS = 20_000_000;
const UNROLL = 4;

export function prepare<Input>({ make, run }: Subject<Input>): Measurement {
  let batchSamples = 0;
  return async () => {
    if (batchSamples === 0) batchSamples = await warmUp({ make, run });
    const stats = await measure(withInputs(make, run), {
      batch_samples: batchSamples,
      batch_unroll: batchSamples < UNROLL ? 1 : UNROLL,
      min_samples: 7,
      // Always in batches: mitata would judge by the first calls, which are not compiled yet.
      batch_threshold: Number.POSITIVE_INFINITY,
      warmup_threshold: Number.POSITIVE_INFINITY,
      min_cpu_time: MIN_CPU_NS,
    });
    return stats.p50;
  };
}

/** mitata takes such a generator, with the makers of the parameters beside `bench`; its types know functions only. */
function withInputs<Input>(make: () => Input, run: (input: Input) => unknown): () => Generator<() => unknown> {
  return function* () {
    yield {
      [0]: make,
      bench: (input: Input) => {
        const result = run(input);
        do_not_optimize(result);
        return result;
      },
    } as unknown as () => unknown;
  };
}

/** @returns how many calls fill a batch: a multiple of how far mitata unrolls its loop, or less than that */
async function warmUp<Input>({ make, run }: Subject<Input>): Promise<number> {
  let calls = 0;
  let total = 0;
  let perCall = 0;
  while (total < WARM_UP_NS || calls < 8) {
    const inputs = Array.from({ length: Math.min(512, Math.max(1, calls)) }, make);
    const started = performance.now();
    for (const input of inputs) {
      const result = run(input);
      do_not_optimize(result instanceof Promise ? await result : result);
    }
    const elapsed = (performance.now() - started) * 1e6;
    perCall = elapsed / inputs.length;
    total += elapsed;
    calls += inputs.length;
  }
  const fitting = Math.min(4096, Math.floor(BATCH_NS / perCall));
  return fitting < UNROLL ? Math.max(1, fitting) : fitting - (fitting % UNROLL);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
