import {
  check,
  createStepResults,
  type Evidence,
  indexTask,
  MAX_STEP_RESULTS,
  parseJson,
  parsePlan,
} from "intentlock/core";
import { LocalGate } from "intentlock/gates";
import { type Measurement, prepare } from "./measure.ts";
import { AUDIENCE, KEY, NOW, openToken, toPolicy } from "./scenario.ts";

/** `check()` of a call with three `from`, over results that were indexed before. */
export type SourcesRow = {
  readonly "fresh args": Measurement;
  readonly "frozen args": Measurement;
};

/** What the three arguments are: e-mail address, number and phrase. */
export interface SourcedArgs {
  readonly to: string;
  readonly amount: number;
  readonly subject: string;
}

/** In the middle of {@link mailOf}. */
export const FOUND: SourcedArgs = {
  to: "person-350@acme.example",
  amount: 1350.5,
  subject: "the quarterly report of project 350 is ready",
};
/** No token of them is there. */
export const UNKNOWN: SourcedArgs = { to: "eve@evil.example", amount: 99_999, subject: "urgent wire transfer" };
/** The address and the number are there, and every word of the phrase, hundreds of times, but never in this order. */
export const NEAR: SourcedArgs = { ...FOUND, subject: "project of the report the quarterly" };

const PLAN = parsePlan(
  {
    goal: "Answer the mails",
    steps: [
      { id: "inbox", tool: "read_mail" },
      {
        tool: "send_money",
        args: { to: { from: "inbox" }, amount: { from: ["task", "inbox"] }, subject: { from: "inbox" } },
        maxCalls: 1_000_000,
      },
    ],
  },
  { tools: ["read_mail", "send_money"] },
);
const FINGERPRINT = `sha256:${"0".repeat(64)}`;
const TOOLS = { read_mail: FINGERPRINT, send_money: FINGERPRINT };
const TASK = { instruction: "Answer the mails, and pay what they ask for." };

/** A mailbox of about so many characters as JSON. */
export function mailOf(characters: number): readonly object[] {
  const mails: object[] = [];
  for (let length = 0; length < characters; ) {
    const n = mails.length;
    const mail = {
      id: n,
      from: `person-${n}@acme.example`,
      subject: `the quarterly report of project ${n} is ready`,
      body: `Hello, see https://www.acme.example/reports/${n}. We owe ${1000 + n}.50 by 2026-12-01.`,
    };
    mails.push(mail);
    length += JSON.stringify(mail).length + 1;
  }
  return mails;
}

/** Takes in a result of one call: what it costs once, when it arrives. */
export function indexingOf(characters: number): Measurement {
  const result = mailOf(characters);
  if (JSON.stringify(result).length > MAX_STEP_RESULTS) throw new Error("more than is kept of a step");
  return prepare({
    make: () => createStepResults(PLAN),
    run: (results: ReturnType<typeof createStepResults>) => results.add(0, 0, result),
  });
}

export async function sourcesRow(given: SourcedArgs, verdict: "allow" | "block"): Promise<SourcesRow> {
  const results = createStepResults(PLAN);
  results.add(0, 0, mailOf(100_000));
  const evidence: Evidence = { task: indexTask(TASK), results };
  const token = await openToken(await signSourced());
  const text = JSON.stringify(given);
  const frozen = parseJson(text);
  let n = 0;
  const input = (args: unknown) => ({
    token,
    call: { callId: `call_${n++}`, tool: "send_money", args, fingerprint: FINGERPRINT },
    used: [1, 0],
    now: NOW,
    evidence,
  });
  const decision = check(input(frozen));
  if (decision.verdict !== verdict) throw new Error(`the call with three sources gets ${decision.verdict}`);
  return {
    "fresh args": prepare({ make: () => input(JSON.parse(text)), run: check }),
    "frozen args": prepare({ make: () => input(frozen), run: check }),
  };
}

async function signSourced(): Promise<string> {
  const policy = toPolicy([{ id: "allow-money", tool: "send_money" }]);
  const gate = new LocalGate({ policy, agent: AUDIENCE, signingKey: KEY, clock: () => NOW * 1000 });
  const { token } = await gate.sign({ user: "dana@acme.example", task: TASK, plan: PLAN, tools: TOOLS });
  return token;
}
