import { check, openPlanToken, parseJson } from "intentlock/core";
import { LocalGate, MemoryAuditSink, type SignedPlan } from "intentlock/gates";
import { makeFloor } from "./floor.ts";
import { type Measurement, prepare } from "./measure.ts";
import {
  AUDIENCE,
  argsText,
  KEY,
  NOW,
  newCall,
  oneTool,
  openToken,
  type Scenario,
  tokenSigner,
  toPlan,
  toPolicy,
} from "./scenario.ts";

/** The four ways in which one scenario is measured. */
export type DecisionRow = {
  /** `check()` with arguments never seen before, as they come from a model. */
  readonly fresh: Measurement;
  /** `check()` with arguments that `parseJson` has frozen, as a gate gives them. */
  readonly frozen: Measurement;
  /** The floor, see {@link makeFloor}. */
  readonly memo: Measurement;
  readonly "memo + copy": Measurement;
  readonly "no memo": Measurement;
};

export async function decisionRow(scenario: Scenario): Promise<DecisionRow> {
  const text = await tokenSigner(scenario)();
  const token = await openToken(text);
  const used = scenario.steps.map(() => 0);
  const frozenArgs = parseJson(argsText(scenario.call(0)));
  const floorMemo = makeFloor(text, scenario, { memo: true, copies: false });
  const floorCopy = makeFloor(text, scenario, { memo: true, copies: true });
  const floorTrie = makeFloor(text, scenario, { memo: false, copies: false });
  const input = (n: number) => ({ token, call: newCall(scenario, n), used, now: NOW });
  const floorInput = (n: number) => ({ token: text, call: newCall(scenario, n), used, now: NOW });
  let n = 0;
  // Once for each tool: what follows is measured warm, and the floor has to decide the same.
  for (; n < 200; n++) {
    const { verdict } = check(input(n));
    if ([floorMemo, floorCopy, floorTrie].some((floor) => floor(floorInput(n)).verdict !== verdict)) {
      throw new Error("the floor decides otherwise than check()");
    }
  }
  return {
    fresh: prepare({ make: () => input(n++), run: check }),
    frozen: prepare({
      make: () => ({ token, call: { ...scenario.call(n), callId: `call_${n++}`, args: frozenArgs }, used, now: NOW }),
      run: check,
    }),
    memo: prepare({ make: () => floorInput(n++), run: floorMemo }),
    "memo + copy": prepare({ make: () => floorInput(n++), run: floorCopy }),
    "no memo": prepare({ make: () => floorInput(n++), run: floorTrie }),
  };
}

export type TokenRow = {
  /** A token that was never seen: its signature is verified, plan and policy are compiled. */
  readonly cold: Measurement;
  /** The same token text again. */
  readonly cached: Measurement;
};

export async function tokenRow(scenario: Scenario, coldTokens: number): Promise<TokenRow> {
  // More than are remembered: when the first one comes again, it is forgotten.
  const tokens = await Promise.all(Array.from({ length: coldTokens }, tokenSigner(scenario)));
  const [first = ""] = tokens;
  const keys = [KEY.publicKey];
  const open = async (token: string) => await openPlanToken(token, keys, { audience: AUDIENCE });
  let n = 0;
  return {
    cold: prepare({ make: () => tokens[n++ % tokens.length] as string, run: open }),
    cached: prepare({ make: () => first, run: open }),
  };
}

export type GateRow = {
  readonly "no audit": Measurement;
  readonly "in memory": Measurement;
};

/** `LocalGate.check`, end to end, with arguments never seen before. */
export function gateRow(argsJson: string): GateRow {
  return { "no audit": freshGate(argsJson, false), "in memory": freshGate(argsJson, true) };
}

/** A new gate for each measurement: an audit in memory grows with every call. */
function freshGate(argsJson: string, audited: boolean): Measurement {
  const { steps, rules, call } = oneTool([{ id: "allow-github", tool: "github_*" }], 1);
  const policy = toPolicy(rules);
  const { tool } = call(0);
  return async () => {
    const gate = new LocalGate({ policy, ...(audited && { audit: new MemoryAuditSink() }) });
    const fingerprint = `sha256:${"0".repeat(64)}`;
    const plan: SignedPlan = await gate.sign({
      user: "dana@acme.example",
      task: { instruction: "Answer the open issues" },
      plan: toPlan(steps),
      tools: { [tool]: fingerprint },
    });
    let n = 0;
    const make = () => ({ callId: `call_${n++}`, tool, args: JSON.parse(argsJson) as unknown, fingerprint });
    const first = await gate.check(plan, make());
    if (first.verdict !== "allow") throw new Error(`the gate does not allow the call: ${first.verdict}`);
    return await prepare({ make, run: (given: ReturnType<typeof make>) => gate.check(plan, given) })();
  };
}

/** Arguments of about so many bytes of JSON, most of it one long text or many small objects. */
export function argsOfSize(bytes: number, kind: "text" | "nested"): string {
  const repo = "acme/public-app";
  const line = "Thanks for the report. This is fixed on main and goes out with the next release. ";
  if (kind === "text")
    return JSON.stringify({
      repo,
      issue: 4217,
      body: line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes - 55),
    });
  const row = (index: number) => ({
    id: index,
    title: line.slice(0, 40),
    labels: ["bug", "p1"],
    open: index % 2 === 0,
  });
  const rows = Array.from({ length: Math.ceil(bytes / JSON.stringify(row(1000)).length) }, (_, index) => row(index));
  return JSON.stringify({ repo, issue: 4217, rows });
}
