import type { JsonObject } from "intentlock/core";
import {
  argsText,
  check,
  everNewNames,
  manyRules,
  NOW,
  oneTool,
  openToken,
  tokenSigner,
  toPolicy,
} from "../check/scenario.ts";
import type { CompiledEngine, Engine, PeerCall } from "./engine.ts";
import type { Timed } from "./measure.ts";

export const SIZES = [10, 100, 1000] as const;
export const MATCHES = ["first", "last", "none"] as const;
export const TOOLS = ["one tool", "ever new names"] as const;
export const FULL_CHECK = "Intentlock, check()";

/** One policy and one kind of calls, decided by every engine. */
export interface Row {
  readonly rules: (typeof SIZES)[number];
  readonly match: (typeof MATCHES)[number];
  readonly tools: (typeof TOOLS)[number];
  readonly subjects: ReadonlyMap<string, Timed>;
}

/** @throws Error if an engine decides otherwise than the policy says */
export async function makeRows(engines: readonly Engine[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const rules of SIZES) {
    for (const match of MATCHES) {
      const simple = manyRules(rules, match);
      const compiled = new Map<string, CompiledEngine>();
      for (const engine of engines) compiled.set(engine.name, await engine.compile(toPolicy(simple).rules));
      const expected = match === "none" ? undefined : `rule-${match === "first" ? 0 : rules - 1}`;
      for (const tools of TOOLS) {
        const subjects = new Map<string, Timed>();
        for (const [name, engine] of compiled) subjects.set(name, await toSubject(name, { engine, tools, expected }));
        subjects.set(FULL_CHECK, await fullCheck(simple, tools));
        rows.push({ rules, match, tools, subjects });
      }
    }
  }
  return rows;
}

const user = { email: "alice@acme.dev", roles: ["member"], groups: [] };
const text = argsText(oneTool([], 1).call(0));
let names = 0;

/** With arguments of about 200 bytes that nobody has seen. */
function nextCall(tools: Row["tools"]): PeerCall {
  const tool = tools === "one tool" ? "github_post_comment" : `github_new_${names++}`;
  return { tool, args: JSON.parse(text) as JsonObject, user };
}

async function toSubject(
  name: string,
  { engine, tools, expected }: { engine: CompiledEngine; tools: Row["tools"]; expected: string | undefined },
): Promise<Timed> {
  const make = () => engine.request(nextCall(tools));
  for (let call = 0; call < 5; call++) {
    const answer = await engine.decide(make() as never);
    if (answer !== expected) throw new Error(`${name} says ${answer} and not ${expected}, ${tools}`);
  }
  return { make, run: engine.decide };
}

/** Token, plan, counts and policy, with arguments to read and copy. A new name is in no plan, and is blocked by it. */
async function fullCheck(rules: ReturnType<typeof manyRules>, tools: Row["tools"]): Promise<Timed> {
  const scenario = { ...(tools === "one tool" ? oneTool(rules, 1) : everNewNames()), rules };
  const token = await openToken(await tokenSigner(scenario)());
  const used = scenario.steps.map(() => 0);
  let n = 0;
  const make = () => ({ token, call: { callId: `call_${n++}`, ...nextCall(tools) }, used, now: NOW });
  return { make, run: (input: ReturnType<typeof make>) => check(input) };
}
