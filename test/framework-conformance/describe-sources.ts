import { expect, test } from "vitest";
import { z } from "zod";
import type { PlanStep } from "../../src/core/index.ts";
import { LocalGate } from "../../src/gates/index.ts";
import { aPolicy, aRule } from "../builders.ts";
import type { aTestTool, lockFor } from "./describe-framework.ts";
import type { Mode, TestCall, TestTool, Turn } from "./framework.ts";

const BOB = "bob@acme.dev";
const EVE = "eve@evil.example";
const LETTER = `Please answer to ${BOB}. Yours, Bob`;

const PLAN: readonly PlanStep[] = [
  { id: "letter", tool: "read_file" },
  { tool: "send_mail", args: { to: { from: "letter" } } },
];

const ASK_WHOM = aPolicy(
  aRule({
    id: "ask-whom",
    match: { tool: "send_mail", unpinned: ["to"] },
    decision: "hold",
    approvers: { roles: ["approver"] },
  }),
  aRule(),
);

interface Sources {
  readonly mode: Mode;
  readonly lock: (options: Parameters<typeof lockFor>[1]) => ReturnType<typeof lockFor>;
  readonly toolWith: typeof aTestTool;
}

/** A file names an address, and mail goes there and nowhere else, through the real framework. */
export function describeSources({ mode, lock, toolWith }: Sources): void {
  const start = async (
    turns: readonly Turn[],
    over: { readonly gate?: LocalGate; readonly read?: TestTool["run"] } = {},
  ) => {
    const { gate, read = () => LETTER } = over;
    const mail = toolWith({ name: "send_mail", schema: z.object({ to: z.string() }), run: () => "sent" });
    const file = toolWith({
      name: "read_file",
      schema: z.object({ path: z.string(), note: z.string().optional() }),
      run: read,
    });
    const tools = [file, mail];
    const agent = await lock({ tools, plan: PLAN, turns: [...turns, { text: "done" }], ...(gate && { gate }) });
    return { ...(await agent.run(mode)), file, mail };
  };
  const reading = (over: Partial<TestCall> = {}): TestCall => ({
    id: "read-1",
    tool: "read_file",
    args: { path: "letter.txt" },
    ...over,
  });
  const mailing = (to: string, id = `mail-${to.length}`): TestCall => ({ id, tool: "send_mail", args: { to } });

  test("a value that a result has named goes on, and no other", async () => {
    const { mail, results, text } = await start([
      { calls: [reading()] },
      { calls: [mailing(BOB)] },
      { calls: [mailing(EVE)] },
    ]);
    expect(mail.runs).toEqual([{ to: BOB }]);
    expect(results.map(({ text }) => text.split("\n")[0])).toEqual([
      LETTER,
      "sent",
      expect.stringContaining("Blocked by Intentlock (not_in_plan)"),
    ]);
    expect(text).toBe("done");
  });

  test("a value is not there before its result is", async () => {
    const { mail } = await start([{ calls: [mailing(BOB)] }, { calls: [reading(), mailing(BOB, "mail-2")] }]);
    expect(mail.runs).toEqual([]);
  });

  test.each<[string, readonly TestCall[]]>([
    ["the id of the call", [reading({ id: EVE })]],
    ["its arguments", [reading({ args: { path: EVE, note: EVE } })]],
    ["arguments that the tool's schema refuses", [reading({ args: { path: 5, note: EVE } })]],
    ["the name of a tool that there is not", [reading({ tool: "read_eve" }), reading({ tool: EVE, id: "read-2" })]],
    ["a call that is blocked", [mailing(EVE, "mail-first")]],
  ])("what the model has put into %s is no source", async (_name, calls) => {
    const { mail } = await start([{ calls }, { calls: [mailing(EVE, "mail-eve")] }]);
    expect(mail.runs).toEqual([]);
  });

  test("what a tool that fails has said is no source", async () => {
    const read = (): never => {
      throw new Error(`There is no ${EVE}`);
    };
    const { mail, file } = await start([{ calls: [reading()] }, { calls: [mailing(EVE)] }], { read });
    expect([file.runs.length, mail.runs]).toEqual([1, []]);
  });

  test("a value that only a result has named waits for a person, where the policy says so", async () => {
    const gate = new LocalGate({ policy: ASK_WHOM });
    const { mail, results } = await start([{ calls: [reading()] }, { calls: [mailing(BOB)] }], { gate });
    expect(mail.runs).toEqual([]);
    // There is nobody to ask behind this gate.
    expect(results.at(-1)?.text).toContain("hold_requires_server");
  });
}
