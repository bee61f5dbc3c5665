import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, parseJson } from "intentlock/core";
import { type Measurement, prepare } from "./measure.ts";
import { AUDIENCE, argsText, KEY, NOW, newCall, openToken, type Scenario, tokenSigner } from "./scenario.ts";

/** `check()` of an older build beside that of this one: both decide the same calls under the same token. */
export type BeforeRow = {
  readonly "fresh, before": Measurement;
  readonly "fresh, now": Measurement;
  readonly "frozen, before": Measurement;
  readonly "frozen, now": Measurement;
};

type Core = typeof import("intentlock/core");

/** The core of a build of an older commit, from its folder: of what this one knows, it needs `check` and what opens tokens. */
export async function loadBefore(folder: string): Promise<Core> {
  return (await import(pathToFileURL(join(resolve(folder), "dist/core.js")).href)) as Core;
}

export async function beforeRow(scenario: Scenario, before: Core): Promise<BeforeRow> {
  const text = await tokenSigner(scenario)();
  const now = await openToken(text);
  const older = await before.openPlanToken(text, [KEY.publicKey], { audience: AUDIENCE });
  const used = scenario.steps.map(() => 0);
  let n = 0;
  const fresh = (token: typeof now) => () => ({ token, call: newCall(scenario, n++), used, now: NOW });
  const frozen = (token: typeof now, parse: Core["parseJson"]) => {
    const args = parse(argsText(scenario.call(0)));
    return () => ({ token, call: { ...scenario.call(n), callId: `call_${n++}`, args }, used, now: NOW });
  };
  for (; n < 200; n++) {
    const call = newCall(scenario, n);
    const verdicts = [
      check({ token: now, call, used, now: NOW }),
      before.check({ token: older, call, used, now: NOW }),
    ];
    if (verdicts[0]?.verdict !== verdicts[1]?.verdict) throw new Error("the older build decides otherwise");
  }
  return {
    "fresh, before": prepare({ make: fresh(older), run: before.check }),
    "fresh, now": prepare({ make: fresh(now), run: check }),
    "frozen, before": prepare({ make: frozen(older, before.parseJson), run: before.check }),
    "frozen, now": prepare({ make: frozen(now, parseJson), run: check }),
  };
}
