import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, parseJson } from "intentlock/core";
import { do_not_optimize } from "mitata";
import { AUDIENCE, argsText, KEY, NOW, newCall, openToken, type Scenario, tokenSigner } from "./scenario.ts";

type Core = typeof import("intentlock/core");

/** The core of a build of an older commit, from its folder: of what this one knows, it needs `check` and what opens tokens. */
export async function loadBefore(folder: string): Promise<Core> {
  return (await import(pathToFileURL(join(resolve(folder), "dist/core.js")).href)) as Core;
}

/**
 * Nanoseconds of `check()` of an older build and of this one: the same calls under the same token, in batches that take
 * turns, so that a busy moment of the machine falls on both.
 */
export async function compareWithBefore(scenario: Scenario, before: Core): Promise<ReadonlyMap<string, number[]>> {
  const text = await tokenSigner(scenario)();
  const used = scenario.steps.map(() => 0);
  const frozen = argsText(scenario.call(0));
  const sides = [
    { name: "before", core: before, token: await before.openPlanToken(text, [KEY.publicKey], { audience: AUDIENCE }) },
    { name: "now", core: { check, parseJson }, token: await openToken(text) },
  ].map((side) => ({ ...side, args: side.core.parseJson(frozen) }));
  const times = new Map<string, number[]>();
  let n = 0;
  for (const kind of ["fresh", "frozen"]) {
    for (let batch = -WARM_UP; batch < BATCHES; batch++) {
      for (const { name, core, token, args } of batch % 2 === 0 ? sides : sides.toReversed()) {
        const inputs = Array.from({ length: CALLS }, () => {
          const fresh = newCall(scenario, n++);
          return { token, call: kind === "fresh" ? fresh : { ...fresh, args }, used, now: NOW };
        });
        const started = process.hrtime.bigint();
        for (const input of inputs) do_not_optimize(core.check(input));
        const ns = Number(process.hrtime.bigint() - started) / CALLS;
        const column = `${kind}, ${name}`;
        if (batch >= 0) times.set(column, [...(times.get(column) ?? []), ns]);
      }
    }
  }
  return times;
}

const CALLS = 256;
const BATCHES = 1000;
const WARM_UP = 300;
