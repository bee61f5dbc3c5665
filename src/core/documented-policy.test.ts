import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { aPlan, decide, summarize } from "../../test/builders.ts";
import type { Json, PlanStep } from "./index.ts";
import { parsePolicy } from "./parse-policy.ts";

const page = readFileSync(new URL("../../docs/policy.md", import.meta.url), "utf8");
const policies = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => parsePolicy(text));

async function decideUnder(id: string, step: PlanStep, args: Readonly<Record<string, Json>>): Promise<string> {
  const policy = policies.find(({ rules }) => rules.some((rule) => rule.id === id));
  if (!policy) throw new Error(`no policy of the page has the rule ${id}`);
  return summarize(await decide({ policy, plan: aPlan(step) }, { call: { callId: "c", tool: step.tool, args } }));
}

describe("the policies of docs/policy.md", () => {
  test.each<[string, Json, string]>([
    ["all are ours", ["ann@acme.dev", "bob@acme.dev"], "allow"],
    ["one is not", ["ann@acme.dev", "eve@evil.example"], "block:only-our-people"],
    ["none is", ["eve@evil.example"], "block:only-our-people"],
    ["there is no list", "ann@acme.dev", "block:only-our-people"],
  ])("to block if any is outside: %s", async (_name, to, verdict) => {
    expect(await decideUnder("only-our-people", { tool: "send_email" }, { to })).toBe(verdict);
  });

  test("what is left out is outside too", async () => {
    expect(await decideUnder("only-our-people", { tool: "send_email" }, {})).toBe("block:only-our-people");
  });

  test.each<[string, PlanStep, string]>([
    ["nothing fixes it", { tool: "send_money" }, "hold:ask-whom"],
    ["it is bounded", { tool: "send_money", args: { recipient: { glob: "D*" } } }, "hold:ask-whom"],
    ["the plan has it", { tool: "send_money", args: { recipient: { eq: "Dora" } } }, "allow"],
  ])("a person is asked where nothing has fixed the target: %s", async (_name, step, verdict) => {
    expect(await decideUnder("ask-whom", step, { recipient: "Dora" })).toBe(verdict);
  });
});
