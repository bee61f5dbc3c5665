import { describe, expect, test } from "vitest";
import { aShell } from "../../../test/command-lines.ts";
import { EXIT } from "../exit-codes.ts";

const VALID =
  "version: 1\ndefault: block\nrules:\n  - { id: allow-in-plan, match: { inPlan: true }, decision: allow }\n";
const INVALID = `version: 1\ndefault: block\nrules:\n  - id: Bad\n    match: {}\n    decision: maybe\n`;

describe("policy validate", () => {
  test.each<[name: string, content: string | Uint8Array, code: number, out: string]>([
    ["a valid policy", VALID, EXIT.ok, "a.yaml: valid, 1 rule\n"],
    ["one with a byte order mark", `\ufeff${VALID}`, EXIT.ok, "a.yaml: valid, 1 rule\n"],
    [
      "one with several problems",
      INVALID,
      EXIT.negative,
      [
        "a.yaml:4:9: rules[0].id: an id is kebab-case, like only-public-repo",
        "a.yaml:5:12: rules[0].match: give at least one field",
        "a.yaml:6:15: rules[0].decision: expected one of allow, block, hold",
        "",
      ].join("\n"),
    ],
    [
      "an empty file",
      "",
      EXIT.negative,
      "a.yaml:1:1: the policy is empty; it has the fields version, default and rules\n",
    ],
    ["bytes that are no text", new Uint8Array([0xff, 0xfe, 0x00]), EXIT.negative, "a.yaml:1:1: it is not UTF-8 text\n"],
    ["a file that is too long", "#".repeat(1_048_577), EXIT.negative, "a.yaml:1:1: it has more than 1048576 bytes\n"],
  ])("of %s", async (_name, content, code, out) => {
    const shell = aShell();
    shell.write("a.yaml", content);
    expect(await shell.run(["policy", "validate", "a.yaml"])).toEqual({ code, out, err: "" });
  });

  test("of several files says which are valid", async () => {
    const shell = aShell();
    shell.write("a.yaml", VALID);
    shell.write("b.yaml", "version: 2\n");
    const { code, out } = await shell.run(["policy", "validate", "a.yaml", "b.yaml"]);
    expect({ code, out }).toEqual({
      code: EXIT.negative,
      out: expect.stringMatching(/^a\.yaml: valid.*\nb\.yaml:1:1: .*\nb\.yaml:1:10: /s),
    });
  });

  test.each([
    ["a file that is not there", "nothing.yaml", "there is no such file"],
    ["a folder", ".", "it is a folder"],
  ])("of %s cannot be done", async (_name, file, why) => {
    const ended = await aShell().run(["policy", "validate", file]);
    expect(ended).toEqual({ code: EXIT.failed, out: "", err: `error: ${file}: ${why}\n` });
  });

  test("reads no more of a file without an end than a policy may have", async () => {
    const { code } = await aShell().run(["policy", "validate", "/dev/zero"]);
    expect(code).toBe(EXIT.negative);
  });

  test("answers with JSON", async () => {
    const shell = aShell();
    shell.write("a.yaml", VALID);
    shell.write("b.yaml", INVALID);
    expect(await shell.json(["policy", "validate", "a.yaml"])).toEqual({
      code: EXIT.ok,
      value: { valid: true, files: [{ file: "a.yaml", valid: true, rules: 1, issues: [] }] },
    });
    expect(await shell.json(["policy", "validate", "b.yaml"])).toMatchObject({
      code: EXIT.negative,
      value: { valid: false, files: [{ valid: false, issues: [{ path: "rules[0].id", line: 4, column: 9 }, {}, {}] }] },
    });
  });

  test.each([[[]], [["--json"]]])("lets nothing in a file or its name write on the terminal (%j)", async (more) => {
    const shell = aShell();
    const name = "\u001b]0;title\u0007\u202e\u009b2J.yaml";
    shell.write(name, 'version: 1\ndefault: block\nrules: []\n"\\e[2J\\u202e\\u2028\\x9bkey": 1\n');
    const { code, out } = await shell.run(["policy", "validate", name, ...more]);
    expect(code).toBe(EXIT.negative);
    expect(out).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
    expect(out.split("\n").length).toBe(more.length === 0 ? 2 : out.split("\n").length);
  });
});
