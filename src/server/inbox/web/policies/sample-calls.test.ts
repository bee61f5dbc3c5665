import { expect, test } from "vitest";
import {
  addSample,
  isBlank,
  readSample,
  readSamples,
  restoreSamples,
  type SampleDraft,
  toSample,
} from "./sample-calls.ts";

function aDraft(over: Partial<SampleDraft> = {}): SampleDraft {
  return { id: 1, tool: "send_money", args: '{ "amount": 20 }', user: "", ...over };
}

test.each<[string, Partial<SampleDraft>, unknown]>([
  ["a call", {}, { tool: "send_money", args: { amount: 20 } }],
  ["for somebody", { user: " alice@acme.dev " }, { tool: "send_money", args: { amount: 20 }, user: "alice@acme.dev" }],
  ["without arguments", { args: " " }, { tool: "send_money", args: {} }],
  ["with arguments that are no object", { args: "null" }, { tool: "send_money", args: null }],
  ["with white space around its name", { tool: " send_money\n" }, { tool: "send_money", args: { amount: 20 } }],
])("reads %s", (_name, over, call) => {
  expect(readSample(aDraft(over)).call).toEqual(call);
});

test.each<[string, Partial<SampleDraft>, readonly string[]]>([
  ["no name", { tool: "" }, ["tool"]],
  ["a name with a space", { tool: "send money" }, ["tool"]],
  ["a name that is too long", { tool: "a".repeat(65) }, ["tool"]],
  ["arguments cut off", { args: '{ "amount": ' }, ["args"]],
  ["arguments in YAML", { args: "amount: 20" }, ["args"]],
  ["no address", { user: "alice" }, ["user"]],
  ["several at once", { tool: "", args: "{", user: "a b@acme.dev" }, ["tool", "args", "user"]],
])("refuses %s at its field", (_name, over, paths) => {
  const { call, issues } = readSample(aDraft(over));
  expect(call).toBeUndefined();
  expect(issues?.map(({ path }) => path)).toEqual(paths);
});

test("only those that can be tried are tried", () => {
  expect(readSamples([aDraft({ tool: "" }), aDraft(), aDraft({ args: "{" })])).toHaveLength(1);
});

test("what was kept is restored, under ids of its own", () => {
  const drafts = addSample(addSample([], aDraft()), { tool: "read_file" });
  expect(restoreSamples(JSON.stringify(drafts))).toEqual(drafts);
  expect(drafts.map(({ id }) => id)).toEqual([1, 2]);
});

test.each([null, "", "{", "{}", "null", '[1, null, { "tool": 1, "args": "", "user": "" }]'])(
  "nothing is restored from %s",
  (text) => {
    expect(restoreSamples(text)).toEqual([]);
  },
);

test("a decided call becomes a sample", () => {
  const [sample] = addSample([], toSample("send_money", { amount: 20 }, "alice@acme.dev"));
  expect(readSample(sample!).call).toEqual({ tool: "send_money", args: { amount: 20 }, user: "alice@acme.dev" });
  expect(isBlank(sample!)).toBe(false);
  expect(isBlank(aDraft({ tool: "", args: " " }))).toBe(true);
});

test("what nobody would see in a decided call is written as its number, and means the same", () => {
  const args = { path: "a\u202e<b>\u200b\n", tag: "\u{e0041}", word: "schön" };
  const { args: text = "" } = toSample("read_file", args, undefined);
  expect(text).toContain(String.raw`a\u202e<b>\u200b\n`);
  expect(text).toContain(String.raw`\udb40\udc41`);
  expect(text).toContain("schön");
  expect(JSON.parse(text)).toEqual(args);
});
