import { describe, expect, test } from "vitest";
import { IntentlockError } from "../core/index.ts";
import { assertNoneUngated, missingPeer, providerRan, unwritableSchema } from "./setup-errors.ts";

const cause = new Error("not found");

test.each<[string, IntentlockError, object, string[]]>([
  [
    "a missing package",
    missingPeer("langchain", "@langchain/core", "^1", cause),
    { code: "ERR_MISSING_PEER", cause },
    ["intentlock/langchain", "npm install @langchain/core@^1"],
  ],
  [
    "a schema that cannot be written",
    unwritableSchema("pay", cause),
    { code: "ERR_INVALID_OPTIONS", cause },
    ["pay", "not found"],
  ],
  [
    "a schema that throws something else",
    unwritableSchema("pay", 5),
    { code: "ERR_INVALID_OPTIONS", cause: 5 },
    ["it throws"],
  ],
  ["a tool of the provider", providerRan("search"), { code: "ERR_UNGATED_TOOLS" }, ['"search"', "allowUngated"]],
])("%s", (_name, error, fields, words) => {
  expect(error).toBeInstanceOf(IntentlockError);
  expect(error).toMatchObject(fields);
  for (const word of words) expect(error.message).toContain(word);
});

describe("tools that the gate cannot see", () => {
  test("are an error that lists each", () => {
    const lines = ["search: the provider runs it", "code: it has no schema"];
    const refused = { code: "ERR_UNGATED_TOOLS", message: expect.stringContaining(`  ${lines.join("\n  ")}\n`) };
    expect(() => assertNoneUngated(lines)).toThrow(expect.objectContaining(refused));
  });

  test("are none", () => {
    expect(() => assertNoneUngated([])).not.toThrow();
  });
});
