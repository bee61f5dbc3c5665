import type { PolicyRule } from "intentlock/core";
import { type CompiledEngine, type Engine, type PeerCall, Unsupported } from "./engine.ts";

/** What an engine made of the calls under one policy, all as the reference did. */
export interface Agreement {
  readonly engine: string;
  readonly policy: string;
  readonly agreed: number;
  /** Calls that it cannot be told, or all of them if it cannot express the policy. */
  readonly left: number;
  readonly cannot: readonly string[];
}

export interface AgreementInput {
  readonly reference: Engine;
  readonly engines: readonly Engine[];
  readonly policies: Readonly<Record<string, readonly PolicyRule[]>>;
  readonly calls: readonly PeerCall[];
}

/** Every engine decides every call under every policy. @throws Error for the first decision that differs */
export async function assertAgreement({ reference, engines, policies, calls }: AgreementInput): Promise<Agreement[]> {
  const table: Agreement[] = [];
  for (const [policy, rules] of Object.entries(policies)) {
    const expected = await decideAll(await reference.compile(rules), calls);
    if (new Set(expected).size < 2) throw new Error(`Every call is decided alike under "${policy}": it shows nothing`);
    for (const engine of engines) table.push(await compareOne(engine, { policy, rules, calls, expected }));
  }
  return table;
}

type Answer = string | undefined | Unsupported;

async function compareOne(
  engine: Engine,
  given: Pick<AgreementInput, "calls"> & { policy: string; rules: readonly PolicyRule[]; expected: readonly Answer[] },
): Promise<Agreement> {
  const { policy, rules, calls, expected } = given;
  const named = { engine: engine.name, policy };
  const compiled = await orUnsupported(() => engine.compile(rules));
  if (compiled instanceof Unsupported) {
    return { ...named, agreed: 0, left: calls.length, cannot: [compiled.message] };
  }
  const answers = await decideAll(compiled, calls);
  const cannot = answers.filter((answer) => answer instanceof Unsupported);
  for (const [index, answer] of answers.entries()) {
    if (answer instanceof Unsupported || answer === expected[index]) continue;
    const call = JSON.stringify(calls[index]);
    throw new Error(`${engine.name} says ${answer} and not ${expected[index]} under "${policy}" of ${call}`);
  }
  const left = cannot.length;
  return { ...named, agreed: calls.length - left, left, cannot: [...new Set(cannot.map(({ message }) => message))] };
}

async function decideAll(compiled: CompiledEngine, calls: readonly PeerCall[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const call of calls) {
    answers.push(await orUnsupported(async () => await compiled.decide(compiled.request(call) as never)));
  }
  return answers;
}

async function orUnsupported<Value>(run: () => Promise<Value>): Promise<Value | Unsupported> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Unsupported) return error;
    throw error;
  }
}
