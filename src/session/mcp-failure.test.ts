import { expect, test } from "vitest";
import { isMcpFailure } from "./mcp-failure.ts";

test.each<[string, unknown, boolean]>([
  ["what a server gives for a call that failed", { isError: true, content: [{ type: "text", text: "no" }] }, true],
  ["the same without words", { isError: true, content: [] }, true],
  ["of a call that worked", { isError: false, content: [] }, false],
  ["without the mark", { content: [] }, false],
  ["a mark that is not true", { isError: "true", content: [] }, false],
  ["a field of a tool's own that has the name", { isError: true, content: "a text" }, false],
  ["no content", { isError: true }, false],
  ["null", null, false],
  ["undefined", undefined, false],
  ["a text", "isError", false],
])("%s", (_name, result, expected) => {
  expect(isMcpFailure(result)).toBe(expected);
});
