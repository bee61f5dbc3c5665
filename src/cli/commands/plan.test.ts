import { describe, expect, test } from "vitest";
import { aShell } from "../../../test/command-lines.ts";
import { EXIT } from "../exit-codes.ts";

const PLAN = {
  goal: "Pay the bill in bill.txt",
  steps: [
    { id: "bill", tool: "read_file", args: { path: { eq: "bill.txt" } }, maxCalls: 1 },
    {
      tool: "send_money",
      args: { recipient: { from: ["task", "bill"] }, amount: { lte: 50 }, note: { optional: true } },
      otherArgs: "block",
      maxCalls: 2,
    },
    { tool: "create_event", at: { "/guests/*/email": { from: "task" } } },
  ],
};
const schema = (...names: string[]): object => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, {}])),
  additionalProperties: false,
});
const TOOLS = [
  { name: "read_file", inputSchema: schema("path", "encoding"), annotations: { readOnlyHint: true, title: "Reads" } },
  { name: "send_money", description: "Pays", inputSchema: schema("recipient", "amount", "note") },
  { name: "create_event", inputSchema: schema("guests", "title"), readOnly: false },
];
const POLICY = `
version: 1
default: block
trust: [{ tool: read_*, path: /iban }]
rules:
  - { id: no-shell, match: { tool: shell }, decision: block }
  - { id: hold-new, match: { tool: send_*, unpinned: [recipient] }, decision: hold, approvers: { roles: [admin] } }
  - { id: guests, match: { unpinned: ["/guests/*/email"] }, decision: block }
  - { id: titles, match: { unpinned: [title] }, decision: hold, approvers: { self: true } }
  - { id: big, match: { args: { amount: { gte: 40 } }, user: { role: member } }, decision: block }
  - { id: rest, match: { inPlan: true }, decision: allow }
  - { id: never, match: { inPlan: true }, decision: block }
`;

function aShellWith(plan: unknown = PLAN): ReturnType<typeof aShell> {
  const shell = aShell();
  shell.write("plan.json", typeof plan === "string" ? plan : JSON.stringify(plan));
  shell.write("tools.json", JSON.stringify(TOOLS));
  shell.write("policy.yaml", POLICY);
  return shell;
}

describe("plan explain", () => {
  test("says step by step what there may be, and warns of what is left open", async () => {
    const { code, out, err } = await aShellWith().run(["plan", "explain", "plan.json", "--tools", "tools.json"]);
    expect({ code, err }).toEqual({ code: EXIT.ok, err: "" });
    expect(out).toBe(
      [
        "Pay the bill in bill.txt",
        "",
        "1. Call read_file (bill) at most once:",
        '   - path must be exactly "bill.txt"',
        "   - other arguments may be anything",
        "",
        "2. Call send_money at most twice:",
        "   - recipient must be copied from the task or from what read_file (bill) returned",
        "   - amount must be at most 50",
        "   - note may be anything, or left out",
        "   - no other arguments",
        "   warning: note is left open",
        "",
        "3. Call create_event any number of times:",
        "   - /guests/*/email must be copied from the task",
        "   - other arguments may be anything",
        "   warning: title is left open",
        "",
        "3 steps, 2 warnings",
        "",
      ].join("\n"),
    );
  });

  test("without the tools warns of every step that lets others through", async () => {
    const { value } = await aShellWith({ ...PLAN, steps: [...PLAN.steps, { tool: "shell" }] }).json([
      "plan",
      "explain",
      "plan.json",
    ]);
    expect((value as { steps: { warnings: string[] }[] }).steps.map(({ warnings }) => warnings)).toEqual([
      ["arguments that are not listed are left open"],
      ["note is left open"],
      ["arguments that are not listed are left open"],
      ["every argument is left open"],
    ]);
  });

  test("says which rules hold or allow what a step leaves unpinned", async () => {
    const { value } = await aShellWith().json([
      "plan",
      "explain",
      "plan.json",
      "--tools",
      "tools.json",
      "--policy",
      "policy.yaml",
    ]);
    const big = "big blocks it if amount is at least 40, and if the user's role is member";
    expect((value as { steps: { policy: string[] }[] }).steps.map(({ policy }) => policy)).toEqual([
      // Its arguments are not closed, so that it may have a title.
      [
        "guests blocks it if /guests/*/email is given, which nothing fixes",
        "titles holds it for the user if title is given, which nothing fixes",
        big,
        "rest allows it",
      ],
      [
        "hold-new holds it for admin if recipient is copied from read_file (bill) and does not stand at /iban there",
        big,
        "rest allows it",
      ],
      ["titles holds it for the user if title is given, which nothing fixes", big, "rest allows it"],
    ]);
  });

  test("says that the rest is blocked, and what is excepted", async () => {
    const shell = aShellWith();
    const rules = `version: 1
default: block
rules:
  - { id: some, match: { inPlan: true }, except: { tool: "send_*", args: { amount: { notIn: [1] } } }, decision: allow }
  - { id: none, match: { tool: send_money }, except: { tool: send_money }, decision: allow }
`;
    shell.write("policy.yaml", rules);
    const { value } = await shell.json(["plan", "explain", "plan.json", "--policy", "policy.yaml"]);
    expect((value as { steps: { policy: string[] }[] }).steps.map(({ policy }) => policy)).toEqual([
      ["some allows it"],
      ["some allows it, except if amount is none of 1 (or missing)", "what no rule matches is blocked"],
      ["some allows it"],
    ]);
  });

  test("the answer of tools/list is a list of tools too", async () => {
    const shell = aShellWith();
    shell.write("tools.json", JSON.stringify({ tools: TOOLS }));
    expect((await shell.run(["plan", "explain", "plan.json", "--tools", "tools.json"])).out).toMatch(/2 warnings\n$/);
  });

  test.each<[string, unknown, string]>([
    [
      "a typo",
      { goal: "g", steps: [{ tool: "send_money", arg: {} }] },
      "steps[0].arg: unknown field; there are: id, tool",
    ],
    [
      "a tool that there is not",
      { goal: "g", steps: [{ tool: "send" }] },
      "steps[0].tool: unknown tool; there are: read_f",
    ],
    [
      "an argument that the tool does not have",
      { goal: "g", steps: [{ tool: "send_money", at: { "/to/iban": { eq: 1 } } }] },
      'steps[0].at["/to/iban"]: send_money has no such argument',
    ],
    ["hidden characters", { goal: "g", steps: [{ tool: "a\u001b[2J" }] }, "steps[0].tool: a tool's name is"],
  ])("a plan with %s is answered with its problems, in their places", async (_name, plan, problem) => {
    const shell = aShellWith(plan);
    const { code, out, err } = await shell.run(["plan", "explain", "plan.json", "--tools", "tools.json"]);
    expect({ code, err }).toEqual({ code: EXIT.negative, err: "" });
    expect(out).toContain(`plan.json: ${problem}`);
    const { code: same, value } = await shell.json(["plan", "explain", "plan.json", "--tools", "tools.json"]);
    expect([same, value]).toEqual([EXIT.negative, { valid: false, issues: [expect.anything()] }]);
  });

  test("hidden characters are shown as their numbers", async () => {
    const eq = "a\u202eb\u001b[2J\n1. Call nothing";
    const plan = { goal: "g\u200bh", steps: [{ tool: "pay", args: { "to\n": { eq } } }] };
    const { out } = await aShellWith(plan).run(["plan", "explain", "plan.json"]);
    expect(out).toContain("g\\u{200b}h\n");
    expect(out).toContain('   - to\\u{a} must be exactly "a\\u{202e}b\\u001b[2J\\n1. Call nothing"\n');
  });

  test.each<[string, string, number, RegExp]>([
    ["not JSON", "{", EXIT.negative, /plan\.json: /],
    ["a list", "[]", EXIT.negative, /plan\.json: expected an object/],
  ])("a file that is %s is no plan", async (_name, text, code, message) => {
    const ended = await aShellWith(text).run(["plan", "explain", "plan.json"]);
    expect(ended.code).toBe(code);
    expect(ended.out + ended.err).toMatch(message);
  });

  test.each([
    ["not JSON", "[", EXIT.usage, /tools\.json: /],
    ["no list", "{}", EXIT.usage, /tools\.json is no list of tools:\n {2}it: expected a list/],
    ["a list of others", '[{"name":"a b"}]', EXIT.usage, /\[0\]\.name: a tool's name is/],
  ])("tools that are %s are not taken", async (_name, text, code, message) => {
    const shell = aShellWith();
    shell.write("tools.json", text);
    const ended = await shell.run(["plan", "explain", "plan.json", "--tools", "tools.json"]);
    expect(ended).toMatchObject({ code, err: expect.stringMatching(message) });
  });
});
