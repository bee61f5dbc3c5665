import { describe, expect, test } from "vitest";
import { assertAgreement } from "../bench/peers/agree.ts";
import { type Engine, type PeerCall, Unsupported } from "../bench/peers/engine.ts";
import { ajv } from "../bench/peers/engines/ajv.ts";
import { floor } from "../bench/peers/engines/floor.ts";
import { ours } from "../bench/peers/engines/ours.ts";
import { featurePolicies, generateCalls } from "../bench/peers/generate.ts";

const policies = featurePolicies();
const calls = generateCalls(500);

/** Ours, with something done to its answers. */
function anEngine(answer: (id: string | undefined, call: PeerCall) => string | undefined): Engine {
  return {
    name: "another",
    async compile(rules) {
      const { decide } = await ours.compile(rules);
      return { request: (call) => call, decide: async (call: PeerCall) => answer(await decide(call as never), call) };
    },
  };
}

// The others are installed by `npm run bench:peers` alone, which compares all of them.
describe("the engines that need no installation decide as ours does", () => {
  test.each([["written by hand", floor] as const, ["ajv", ajv] as const])("%s", async (_name, engine) => {
    const table = await assertAgreement({ reference: ours, engines: [engine], policies, calls });
    expect(table.map(({ agreed }) => agreed)).toEqual(Object.keys(policies).map(() => calls.length));
  });
});

describe("an engine is found out", () => {
  test.each<[string, Engine]>([
    ["that never finds a rule", anEngine(() => undefined)],
    ["that takes a missing argument for any", anEngine((id, { args }) => ("repo" in args ? id : "rule-0"))],
    ["that errs for one tool alone", anEngine((id, { tool }) => (tool === "__proto__" ? undefined : id))],
  ])("%s", async (_name, engine) => {
    await expect(assertAgreement({ reference: ours, engines: [engine], policies, calls })).rejects.toThrow(
      /^another says .* under "/,
    );
  });

  test("that fails", async () => {
    const engine = anEngine(() => {
      throw new TypeError("broken");
    });
    await expect(assertAgreement({ reference: ours, engines: [engine], policies, calls })).rejects.toThrow("broken");
  });
});

test("what an engine cannot be told is counted, with why", async () => {
  const engine = anEngine((id, { args }) => {
    if (args["amount"] === null) throw new Unsupported("null");
    return id;
  });
  const left = calls.filter(({ args }) => args["amount"] === null).length;
  const [row] = await assertAgreement({ reference: ours, engines: [engine], policies, calls });
  expect(row).toMatchObject({ agreed: calls.length - left, left, cannot: ["null"] });
  expect(left).toBeGreaterThan(0);
});

test("a policy that decides every call alike shows nothing, and is refused", async () => {
  await expect(assertAgreement({ reference: ours, engines: [], policies: { none: [] }, calls })).rejects.toThrow(
    'decided alike under "none"',
  );
});
