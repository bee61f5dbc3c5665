import { describe, expect, test, vi } from "vitest";
import type { CliIo } from "../io.ts";
import { printAgents, printKeys, printPeople, printSigningKeys } from "./print-lists.ts";
import { printPolicyTest } from "./print-policy-test.ts";
import { printable, printJson } from "./printable.ts";
import { createProgress } from "./progress.ts";
import { printTable } from "./table.ts";
import { printMoment } from "./words.ts";

const plain = (_style: string, text: string): string => text;
const marked = (style: string, text: string): string => `<${style}>${text}</>`;

describe("text for a terminal", () => {
  test.each([
    ["words", "words"],
    ["naïve 漢字 🙂", "naïve 漢字 🙂"],
    ["\u001b[2J", "\\u{1b}[2J"],
    ["one\ntwo\r\tthree", "one\\u{a}two\\u{d}\\u{9}three"],
    ["\u009b2J", "\\u{9b}2J"],
    ["\u202eevil", "\\u{202e}evil"],
    ["a\u2028b\u200bc\u{e0041}", "a\\u{2028}b\\u{200b}c\\u{e0041}"],
    ["a\u3164b\ue000c\ufe0f", "a\\u{3164}b\\u{e000}c\\u{fe0f}"],
    ["\ud800", "\ufffd"],
  ])("of %j is %j", (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  test.each(["\u001b[2J", "\u009b2J\u202e\u2028\u{e0041}\u3164\ue000", "naïve 🙂"])(
    "as JSON says what %j is",
    (text) => {
      const json = printJson({ [text]: text });
      expect(JSON.parse(json)).toEqual({ [text]: text });
      expect(json).not.toMatch(/[^\P{C}\n]|[\p{DI}\p{Zl}\p{Zp}]/u);
    },
  );

  test("as JSON is a document whatever it is of", () => {
    expect(printJson(undefined)).toBe("null\n");
  });
});

describe("a table", () => {
  test("has columns of one width, and no space at the ends of its lines", () => {
    const rows = [["a", { text: "yes", style: "green" }, ""] as const, ["longer\u001b", "x", "end"]];
    expect(printTable(["N", "STATE", ""], rows, plain)).toBe(
      ["N             STATE", "a             yes", "longer\\u{1b}  x      end", ""].join("\n"),
    );
  });

  test("is painted without losing its columns", () => {
    const rows = [[{ text: "a", style: "green" }, "b"] as const];
    expect(printTable(["ONE", "TWO"], rows, marked)).toBe("<dim>ONE</>  <dim>TWO</>\n<green>a</>    b\n");
  });
});

test.each([
  [0, "1970-01-01 00:00 UTC"],
  [1_800_000_000_000, "2027-01-15 08:00 UTC"],
  [null, "-"],
  [undefined, "-"],
  [Number.MAX_VALUE, "-"],
])("the moment %s is %s", (moment, expected) => {
  expect(printMoment(moment)).toBe(expected);
});

describe("lists", () => {
  test.each<[name: string, text: string, expected: RegExp]>([
    ["of no agents", printAgents([], plain), /intentlock agent create/],
    ["of no keys", printKeys([], new Map(), plain), /intentlock key create/],
    ["of no people", printPeople([], plain), /intentlock user add/],
    ["of no signing keys", printSigningKeys([], plain), /no signing keys/],
    [
      "of agents",
      printAgents([{ agentId: "a1", name: "triage", enabled: false, settings: {}, createdAt: 0 }], plain),
      /^NAME +ID +STATE +POLICY +CREATED\ntriage +a1 +disabled +none +1970-01-01 00:00 UTC\n$/,
    ],
    [
      "of keys",
      printKeys(
        [{ keyId: "k1", agentId: "a1", owner: "bob@acme.dev", createdAt: 0 }],
        new Map([["a1", "triage"]]),
        plain,
      ),
      /\nk1 +triage +bob@acme\.dev +everybody +in use +- +1970/,
    ],
    [
      "of people",
      printPeople([{ email: "bob@acme.dev", roles: ["admin", "member"], groups: [], createdAt: 0 }], plain),
      /\nbob@acme\.dev +admin, member +- +1970/,
    ],
    [
      "of signing keys",
      printSigningKeys([{ kid: "k", status: "retiring", createdAt: 0, retiresAt: 60_000 }], plain),
      /\nk +retiring +1970-01-01 00:00 UTC +1970-01-01 00:01 UTC\n$/,
    ],
  ])("%s", (_name, text, expected) => {
    expect(text).toMatch(expected);
  });
});

test("a test of a policy is a table of old and new verdicts", () => {
  const rows = [
    {
      callId: "1",
      tool: "read",
      planId: "p",
      seq: 3,
      before: { verdict: "allow", rule: "r" },
      after: { verdict: "block", reason: "no_matching_rule" },
      changed: true,
    },
    { callId: "2", tool: "send", before: null, after: { verdict: "hold", rule: "h" }, changed: false },
  ] as const;
  expect(printPolicyTest({ rows, changed: 1, notRecomputable: 2 }, plain)).toBe(
    [
      "PLAN      ENTRY  CALL  TOOL  BEFORE     AFTER",
      "p         3      1     read  allow (r)  block (no_matching_rule)  changed",
      "(sample)  -      2     send  -          hold (h)",
      "2 calls: 1 changed, 2 decisions left out (arguments redacted or malformed)",
      "",
    ].join("\n"),
  );
  expect(printPolicyTest({ rows: [], changed: 0, notRecomputable: 0 }, plain)).toBe("0 calls: 0 changed\n");
});

describe("progress", () => {
  const onto = (isTTY: boolean) => {
    const write = vi.fn();
    const stream = { isTTY, write };
    return { io: { stdout: stream, stderr: stream, env: {}, cwd: "/" } satisfies CliIo, write };
  };

  test("is one line of a terminal, not written more often than anybody sees, and gone at the end", () => {
    const { io, write } = onto(true);
    const progress = createProgress(io, { json: false });
    progress.update("one");
    progress.update("two");
    progress.end();
    progress.end();
    expect(write.mock.calls).toEqual([["\r\u001b[Kone"], ["\r\u001b[K"]]);
  });

  test.each([
    [false, false],
    [true, true],
  ])("is nothing elsewhere (terminal: %s, JSON: %s)", (isTTY, json) => {
    const { io, write } = onto(isTTY);
    const progress = createProgress(io, { json });
    progress.update("one");
    progress.end();
    expect(write).not.toHaveBeenCalled();
  });
});
