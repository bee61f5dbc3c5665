import { expect, test, vi } from "vitest";
import { parseDocument } from "yaml";
import { claimToolCall, DENIAL_CODES, interceptToolCall, isAllowed } from "../src/adapters/mcp/index.ts";
import { LocalGate } from "../src/gates/index.ts";
import { aPlan, aPolicy } from "./builders.ts";
import { aRequest } from "./mcp.ts";
import { aSession, aTool } from "./sessions.ts";

// It is many, and a machine may be busy.
vi.setConfig({ testTimeout: 300_000 });

const PAYLOADS = 100_000;
const SEED = 20_261_130;

/** A generator of numbers that gives the same in every run. */
type Random = (below: number) => number;

function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

/** Values that have made parsers disagree. */
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -0,
    1.5,
    2 ** 53,
    1e308,
    "",
    "landlord",
    "attacker",
    "2.0",
    "tools/call",
    "send_money",
    "__proto__",
  ],
  ...[[], {}, ["landlord"], { to: "landlord" }, { name: "send_money" }, "\u0000", "\u202e", "k\u212a", "constructor"],
];
const KEYS = [
  "jsonrpc",
  "id",
  "method",
  "params",
  "name",
  "arguments",
  "_meta",
  "to",
  "amount",
  "__proto__",
  "Params",
  "task",
];
const PIECES = [
  '"to":"attacker",',
  '"id":1,',
  '"name":"delete_all",',
  "\\u0000",
  "\\ud800",
  "//x\n",
  ",",
  "]",
  "}",
  "\ufeff",
  "1e999",
  "NaN",
  "-0",
  "\n{}",
  "\u00a0",
];

/** Another value somewhere in a valid request. */
function mutateValue(random: Random): string {
  const request = structuredClone(aRequest({ id: random(3) === 0 ? `call-${random(9)}` : random(9) }));
  for (let times = 1 + random(3); times > 0; times--) {
    let target = request;
    while (random(2) === 0) {
      const inner = pick(
        random,
        Object.values(target).filter((one) => typeof one === "object" && one !== null),
      );
      if (!inner) break;
      target = inner as Record<string, unknown>;
    }
    if (random(4) === 0) delete target[pick(random, Object.keys(target)) as string];
    else {
      const key = random(2) === 0 ? pick(random, KEYS) : (pick(random, Object.keys(target)) ?? "x");
      Object.defineProperty(target, key, {
        value: structuredClone(pick(random, VALUES)),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  return JSON.stringify(request);
}

/** Other bytes somewhere in a request: changed, lost, doubled, or put in. */
function mutateBytes(random: Random, text: string): Uint8Array {
  let bytes = [...new TextEncoder().encode(text)];
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(bytes.length + 1);
    const length = random(12);
    switch (random(6)) {
      case 0:
        bytes[at] = random(256);
        break;
      case 1:
        bytes.splice(at, length);
        break;
      case 2:
        bytes.splice(at, 0, ...bytes.slice(at, at + length));
        break;
      case 3:
        bytes = [...bytes.slice(0, at), ...new TextEncoder().encode(pick(random, PIECES)), ...bytes.slice(at)];
        break;
      case 4:
        bytes = bytes.slice(0, at);
        break;
      default:
        bytes = [...bytes, ...bytes.slice(0, at)];
    }
  }
  return Uint8Array.from(bytes, (byte) => byte ?? 0);
}

function aPayload(random: Random): string | Uint8Array {
  const text = random(3) === 0 ? JSON.stringify(aRequest({ id: random(9) })) : mutateValue(random);
  switch (random(4)) {
    case 0:
      return text;
    case 1:
      return Uint8Array.from({ length: random(200) }, () => random(256));
    case 2:
      return new TextDecoder().decode(mutateBytes(random, text));
    default:
      return mutateBytes(random, text);
  }
}

/** What is wrong with letting a payload through, found without any of our parsers. */
function findFault(payload: string | Uint8Array): string | undefined {
  const text =
    typeof payload === "string" ? payload : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
  if (!text.isWellFormed()) return "a lone surrogate";
  const request = JSON.parse(text);
  // YAML is JSON and more, and its parser knows duplicate keys.
  if (parseDocument(text, { uniqueKeys: true }).errors.length > 0) return "a key is there twice";
  const { jsonrpc, id, method, params, ...rest } = request;
  if (jsonrpc !== "2.0" || method !== "tools/call" || Object.keys(rest).length > 0) return "no request";
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return "no id";
  if (!Object.hasOwn(request, "params") || !Object.hasOwn(params, "name")) return "no params of its own";
  const { name, arguments: args } = params;
  if (name !== "send_money" || !Object.hasOwn(args, "to") || args.to !== "landlord") return "not in the plan";
  if (Object.hasOwn(args, "amount") && typeof args.amount !== "number") return "not in the schema";
  return undefined;
}

test("each of 100,000 payloads gets a verdict, and none is allowed that should not be", async () => {
  const random = seeded(SEED);
  const { session } = await aSession({
    gate: new LocalGate({ policy: aPolicy() }),
    tools: [aTool()],
    plan: aPlan({ args: { to: { eq: "landlord" } } }),
  });
  const seen = new Map<string, number>();
  for (let count = 0; count < PAYLOADS; count++) {
    const payload = aPayload(random);
    const verdict = await interceptToolCall(payload, { session });
    const what = isAllowed(verdict) ? "allowed" : verdict.denialCode;
    seen.set(what, (seen.get(what) ?? 0) + 1);
    if (isAllowed(verdict)) {
      const fault = findFault(payload);
      if (fault !== undefined)
        expect.fail(`${fault}: ${typeof payload === "string" ? payload : new TextDecoder().decode(payload)}`);
      await (await claimToolCall(verdict))?.settle("ok");
    } else if (verdict.outcome !== "blocked" || !DENIAL_CODES.includes(verdict.denialCode)) {
      expect.fail(JSON.stringify(verdict));
    } else JSON.stringify(verdict.response);
  }
  // Both sides of the line were looked at, and every way across it.
  const codes = [
    "allowed",
    "invalid_encoding",
    "invalid_json",
    "invalid_request",
    "unknown_tool",
    "invalid_args",
    "not_in_plan",
  ];
  for (const code of codes)
    expect({ code, times: seen.get(code) ?? 0 }).toEqual({ code, times: expect.toSatisfy((times) => times > 100) });
  expect(seen.get("allowed")).toBeGreaterThan(5000);
  expect(seen.get("internal_error") ?? 0).toBe(0);
});
