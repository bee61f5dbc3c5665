import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { startSession } from "intentlock";
import { LocalGate, MemoryAuditSink } from "intentlock/gates";
import { claimToolCall, interceptToolCall, isAllowed, type ToolVerdict } from "intentlock/mcp";

const ROUNDS = 15;
const CALLS = 1000;

const schema = {
  type: "object",
  properties: {
    to: { type: "string", format: "email" },
    subject: { type: "string", maxLength: 200 },
    body: { type: "string" },
    tags: { type: "array", items: { type: "string" }, maxItems: 20 },
    options: { type: "object", properties: { urgent: { type: "boolean" }, retries: { type: "integer", minimum: 0 } } },
  },
  required: ["to", "subject", "body"],
  additionalProperties: false,
} as const;

const names = Array.from({ length: 10 }, (_, index) => `mail_${index}`);
const tool = "mail_9";

const policy = JSON.stringify({
  version: 1,
  default: "block",
  rules: [
    ...names.slice(0, 9).map((name, index) => ({
      id: `rule-${index}`,
      match: { tool: index % 2 === 0 ? name : `${name}*`, args: { to: { notGlob: "*@acme.dev" } } },
      decision: "block",
    })),
    { id: "allow-in-plan", match: { inPlan: true }, decision: "allow" },
  ],
});

/** Milliseconds of one call, in each round. */
export interface InterceptTimes {
  readonly bare: readonly number[];
  readonly intercept: readonly number[];
  readonly settled: readonly number[];
}

export async function measureIntercept(): Promise<InterceptTimes> {
  const times = { bare: [] as number[], intercept: [] as number[], settled: [] as number[] };
  const ajv = new Ajv2020();
  formats.default(ajv);
  const validate = ajv.compile(schema);
  // The first rounds are not compiled yet.
  for (let round = -3; round < ROUNDS; round++) {
    const bare = await timeCalls((payload) => {
      const request = JSON.parse(payload) as { params: { arguments: unknown } };
      if (!validate(request.params.arguments)) throw new Error("not valid");
    });
    // A new one each time: its record grows.
    const session = await openSession();
    const verdicts: ToolVerdict[] = [];
    const intercept = await timeCalls(
      async (payload) => void verdicts.push(await interceptToolCall(payload, { session })),
    );
    if (!verdicts.every(isAllowed)) throw new Error("A call was blocked");
    await session.close();
    const other = await openSession();
    const settled = await timeCalls(async (payload) => {
      const call = await claimToolCall(await interceptToolCall(payload, { session: other }));
      await call?.settle("ok");
    });
    await other.close();
    globalThis.gc?.();
    if (round < 0) continue;
    times.bare.push(bare);
    times.intercept.push(intercept);
    times.settled.push(settled);
  }
  return times;
}

async function openSession() {
  return await startSession({
    gate: new LocalGate({ policy, audit: new MemoryAuditSink() }),
    user: "alice@acme.dev",
    task: "Write to them",
    tools: names.map((name) => ({ name, description: "Sends mail", inputSchema: schema })),
    plan: { goal: "Write to them", steps: names.map((name) => ({ tool: name, args: { to: { glob: "*@acme.dev" } } })) },
  });
}

/** One after the other, each with a payload that nobody has seen. */
async function timeCalls(run: (payload: string) => unknown): Promise<number> {
  const payloads = Array.from({ length: CALLS }, (_, id) => aPayload(id));
  const started = performance.now();
  for (const payload of payloads) await run(payload);
  return (performance.now() - started) / CALLS;
}

function aPayload(id: number): string {
  const args = {
    to: "bob@acme.dev",
    subject: `Report ${id}`,
    body: "The numbers of the week are in the table. ".repeat(18),
    tags: ["report", "weekly", "numbers"],
    options: { urgent: false, retries: 3 },
  };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: args } });
}
