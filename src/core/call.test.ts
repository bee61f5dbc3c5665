import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { digestCall, isNamed } from "./call.ts";

test("the digest of a call is that of its tool and arguments, and of nothing else in the world", () => {
  const text = 'intentlock/call/v1\n{"args":{"a":1,"b":"é"},"tool":"send_money"}';
  const digest = `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
  expect(digestCall({ tool: "send_money", args: { b: "é", a: 1 } })).toBe(digest);
  expect(digestCall({ tool: "read_file", args: { b: "é", a: 1 } })).not.toBe(digest);
});

const NAMED = { callId: "call-1", tool: "send_money", fingerprint: "sha256:f" };
test.each<[string, object, boolean]>([
  ["names", {}, true],
  ["no fingerprint", { fingerprint: undefined }, true],
  ["the longest id", { callId: "x".repeat(1000) }, true],
  ["the longest fingerprint", { fingerprint: "x".repeat(1000) }, true],
  ["empty ids", { callId: "", fingerprint: "" }, true],
  ["an id that is too long", { callId: "x".repeat(1001) }, false],
  ["an id with half a pair", { callId: "\ud800" }, false],
  ["a number for an id", { callId: 1 }, false],
  ["a list for an id", { callId: ["call-1"] }, false],
  ["no id", { callId: undefined }, false],
  ["no tool", { tool: undefined }, false],
  ["a tool's name with a space", { tool: "a b" }, false],
  ["a fingerprint that is too long", { fingerprint: "x".repeat(1001) }, false],
  ["null for a fingerprint", { fingerprint: null }, false],
])("a call with %s is named, or not", (_name, over, expected) => {
  expect(isNamed({ ...NAMED, ...over })).toBe(expected);
});
