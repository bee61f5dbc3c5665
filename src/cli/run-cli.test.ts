import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { aShell } from "../../test/command-lines.ts";
import { EXIT } from "./exit-codes.ts";

/** Every command that there is. */
const COMMANDS = [
  "serve",
  "mcp",
  "agent create",
  "agent list",
  "agent disable",
  "agent enable",
  "key create",
  "key list",
  "key revoke",
  "user add",
  "user list",
  "user link",
  "user remove",
  "plan explain",
  "policy validate",
  "policy test",
  "policy push",
  "audit verify",
  "signing-key list",
  "signing-key rotate",
];

describe("a command line", () => {
  test.each<[argv: string, code: number, out: RegExp, err: RegExp]>([
    ["", EXIT.usage, /^$/, /^Usage: intentlock /],
    ["--help", EXIT.ok, /^Usage: intentlock .*policy .*audit /s, /^$/],
    ["help", EXIT.ok, /^Usage: intentlock /, /^$/],
    ["--version", EXIT.ok, new RegExp(`^${manifest.version.replaceAll(".", "\\.")}\n$`), /^$/],
    ["-V", EXIT.ok, /^\d/, /^$/],
    ["polcy", EXIT.usage, /^$/, /^error: unknown command 'polcy'\n\(Did you mean policy\?\)\n$/],
    ["policy", EXIT.usage, /^$/, /^Usage: intentlock policy /],
    ["policy validat", EXIT.usage, /^$/, /unknown command 'validat'\n\(Did you mean validate\?\)\n$/],
    ["policy validate", EXIT.usage, /^$/, /^error: missing required argument 'file'\n$/],
    ["policy validate --jsn a.yaml", EXIT.usage, /^$/, /unknown option '--jsn'\n\(Did you mean --json\?\)\n$/],
    ["audit verify extra", EXIT.usage, /^$/, /^error: too many arguments/],
    ["audit verify --plan", EXIT.usage, /^$/, /^error: option '--plan <id>' argument missing\n$/],
    ["audit verify --outbox a --database b --jwks c", EXIT.usage, /^$/, /cannot be used with/],
    ["audit verify --jwks keys.json", EXIT.usage, /^$/, /^error: --jwks goes with --outbox/],
    ["audit verify --outbox a.db", EXIT.usage, /^$/, /^error: --outbox needs --jwks/],
    [
      "audit verify",
      EXIT.failed,
      /^$/,
      /^error: There is no database at .*\.intentlock.intentlock\.db\.\n.*--database FILE/,
    ],
    ["__proto__", EXIT.usage, /^$/, /unknown command '__proto__'/],
    ["policy constructor", EXIT.usage, /^$/, /unknown command 'constructor'/],
    ["audit verify --toString", EXIT.usage, /^$/, /unknown option '--toString'/],
  ])("%j ends with %i", async (argv, code, out, err) => {
    const ended = await aShell().run(argv === "" ? [] : argv.split(" "));
    expect(ended).toEqual({ code, out: expect.stringMatching(out), err: expect.stringMatching(err) });
  });

  test.each([
    ["polcy --json", EXIT.usage, "ERR_USAGE"],
    ["policy --json", EXIT.usage, "ERR_USAGE"],
    ["policy validate --json", EXIT.usage, "ERR_USAGE"],
    ["policy validate --json nothing.yaml", EXIT.failed, "ERR_FILE"],
    ["audit verify --json", EXIT.failed, "ERR_NO_STORE"],
    ["audit verify --json --database postgres://127.0.0.1:1/none", EXIT.failed, "ERR_STORE_UNUSABLE"],
    ["audit verify --json --database mysql://root:secret@localhost/x", EXIT.usage, "ERR_USAGE"],
  ])("%j fails with %i, and says %s as JSON on the error stream", async (argv, code, error) => {
    const ended = await aShell().run(argv.split(" "));
    expect(ended).toMatchObject({ code, out: "" });
    expect(JSON.parse(ended.err)).toEqual({ error: { code: error, message: expect.any(String) } });
    expect(ended.err).not.toContain("secret");
  });

  test("after -- is no option", async () => {
    const { code, err } = await aShell().run(["policy", "validate", "--", "--json"]);
    expect({ code, err }).toEqual({ code: EXIT.failed, err: "error: --json: there is no such file\n" });
  });

  test("takes DATABASE_URL, and says nothing of what is in it", async () => {
    const shell = aShell({ DATABASE_URL: "mysql://root:secret@localhost/x" });
    const { code, err } = await shell.run(["audit", "verify"]);
    expect({ code, err }).toEqual({
      code: EXIT.usage,
      err: expect.stringMatching(/^error: DATABASE_URL is no Postgre/),
    });
    expect(err).not.toContain("secret");
  });

  test("shows a stack only if it is asked for", async () => {
    const plain = await aShell().run(["audit", "verify", "--database", "/dev/null/x"]);
    const debug = await aShell({ INTENTLOCK_DEBUG: "1" }).run(["audit", "verify"]);
    expect(plain.err).not.toMatch(/^ +at /m);
    expect(debug.err).toMatch(/^ +at /m);
  });

  test("that writes itself into an error cannot write on the terminal", async () => {
    const { err } = await aShell().run(["\u001b[2Jclear", "\u202e"]);
    expect(err).toContain("\\u{1b}[2Jclear");
    expect(err).not.toMatch(/[^\P{C}\n]/u);
  });
});

describe("the help", () => {
  test.each(COMMANDS)("of %s has an example, the exit codes and --json", async (command) => {
    const { code, out } = await aShell().run([...command.split(" "), "--help"]);
    expect({ code, out }).toEqual({ code: EXIT.ok, out: expect.stringContaining(`$ intentlock ${command}`) });
    expect(out).toMatch(/ --json .*Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 .*\n {2}3 /s);
  });

  test("is of every command", async () => {
    const listed: string[] = [];
    for (const group of await listCommands([])) {
      const within = await listCommands([group]);
      listed.push(...(within.length === 0 ? [group] : within.map((name) => `${group} ${name}`)));
    }
    expect(new Set(COMMANDS)).toEqual(new Set(listed));
  });
});

test("the page in docs has a line for each command", () => {
  const page = readFileSync(new URL("../../docs/command-line.md", import.meta.url), "utf8");
  expect(COMMANDS.filter((command) => !page.includes(`\nintentlock ${command}`))).toEqual([]);
});

test("the package's program is what is built of main.ts", () => {
  expect(manifest.bin).toEqual({ intentlock: "./dist/cli.js" });
  expect(readFileSync(new URL("../../tsup.config.ts", import.meta.url), "utf8")).toContain('cli: "src/cli/main.ts"');
  expect(readFileSync(new URL("./main.ts", import.meta.url), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});

describe("colours", () => {
  const terminal = (env: Record<string, string>, isTTY: boolean) => {
    let out = "";
    const stream = { isTTY, columns: 80, write: (text: string) => (out += text) };
    return { io: { stdout: stream, stderr: stream, env }, printed: () => out };
  };

  test.each<[env: Record<string, string>, isTTY: boolean, coloured: boolean]>([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ TERM: "dumb" }, true, false],
  ])("with %j and a terminal: %s are there: %s", async (env, isTTY, coloured) => {
    const { io, printed } = terminal(env, isTTY);
    await aShell().run(["nothing"], io);
    expect(printed().includes("\u001b[31m")).toBe(coloured);
  });
});

/** The names under a command, as its help has them. */
async function listCommands(path: readonly string[]): Promise<string[]> {
  const { out } = await aShell().run([...path, "--help"]);
  const section = /^Commands:\n((?: {2}.*\n)+)/m.exec(out)?.[1] ?? "";
  return [...section.matchAll(/^ {2}(\S+)/gm)].flatMap(([, name = ""]) => (name === "help" ? [] : [name]));
}
