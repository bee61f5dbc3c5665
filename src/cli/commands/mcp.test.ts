import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { aShell } from "../../../test/command-lines.ts";
import { EXIT } from "../exit-codes.ts";
import { type McpOptions, readSettings } from "../mcp/proxy-settings.ts";

const POLICY = "version: 1\ndefault: block\nrules: []\n";
const PLAN = JSON.stringify({ goal: "Read", steps: [{ tool: "read_graph" }] });
const USER = "--user you@example.com";
const LOCAL = `--policy policy.yaml ${USER}`;
const REMOTE = `--gate hybrid --url https://lock.acme.dev ${USER}`;
const ENV = { INTENTLOCK_API_KEY: "ilk_secret", TOKEN: "t0ken", EMPTY: "" };

describe("mcp", () => {
  test.each<[argv: string, says: string]>([
    [`${LOCAL} -- server`, "There is no plan, so nothing would be allowed.\nAdd --plan plan.json with --policy"],
    [`${LOCAL} --plan plan.json --declare -- server`, "Either --plan or --declare"],
    [`${LOCAL} --declare -- server`, "--declare needs a server"],
    [`${LOCAL} --plan plan.json`, "Which server is locked?"],
    [`${LOCAL} --plan plan.json --server https://acme.dev/mcp -- server`, "Which server is locked?"],
    [`${LOCAL} --plan plan.json --server http://acme.dev/mcp`, "expected an https: URL"],
    [`${LOCAL} --plan plan.json --server file:///etc/passwd`, "expected an https: URL"],
    [`${LOCAL} --plan plan.json --server-token-env TOKEN -- server`, "--server-token-env goes with --server"],
    [`${LOCAL} --plan plan.json --server https://acme.dev --server-token-env EMPTY`, "EMPTY is not set"],
    [`${LOCAL} --plan plan.json --url https://lock.acme.dev -- server`, "a local gate has no server"],
    [`--plan plan.json --policy policy.yaml -- server`, "For whom? Add --user"],
    [`--plan plan.json ${USER} -- server`, "What is allowed at all? Add --policy"],
    [`${REMOTE} --plan plan.json --policy policy.yaml -- server`, "the server has the policy"],
    [`--gate http --declare ${USER} -- server`, "--gate http needs the server"],
    [
      `--gate http --url https://lock.acme.dev --outbox o.db --declare ${USER} -- server`,
      "the server keeps the record",
    ],
    [`${REMOTE} --declare --signing-key key.json -- server`, "the server signs"],
    [`${REMOTE} --declare --api-key-env EMPTY -- server`, "The API key is missing: set the variable EMPTY"],
    [`${REMOTE.replace("https", "http")} --declare -- server`, "expected https:"],
    [`${LOCAL} --plan plan.json --allow everything -- server`, "Expected one of resources, prompts"],
    [`${LOCAL} --plan plan.json --deny-as nothing -- server`, "Allowed choices are result, error"],
    [`${LOCAL} --plan plan.json --listen 65536 -- server`, "Expected a whole number"],
    [`${LOCAL} --plan plan.json --user nobody -- server`, "Expected an e-mail address"],
  ])("%s does not start, and says what to do", async (argv, says) => {
    const shell = aShell(ENV);
    shell.write("policy.yaml", POLICY);
    shell.write("plan.json", PLAN);
    const ended = await shell.run(["mcp", ...argv.split(" ")]);
    expect(ended).toEqual({ code: EXIT.usage, out: "", err: expect.stringContaining(says) });
  });

  test.each<[string, Record<string, string>, number, string]>([
    ["no policy", { "plan.json": PLAN }, EXIT.failed, "policy.yaml: there is no such file"],
    ["no plan", { "policy.yaml": POLICY }, EXIT.failed, "plan.json: there is no such file"],
    [
      "a policy that is none",
      { "policy.yaml": "version: 2\n", "plan.json": PLAN },
      EXIT.negative,
      "The policy is not valid",
    ],
    [
      "a plan that is none",
      { "policy.yaml": POLICY, "plan.json": '{"goal":"x"}' },
      EXIT.negative,
      "The plan is not valid",
    ],
    [
      "a plan with a key twice",
      { "policy.yaml": POLICY, "plan.json": '{"goal":"x","goal":"y"}' },
      EXIT.negative,
      "twice",
    ],
  ])("does not start with %s", async (_name, files, code, says) => {
    const shell = aShell();
    for (const [name, content] of Object.entries(files)) shell.write(name, content);
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
    const argv = `mcp --plan plan.json ${LOCAL} --signing-key key.json -- server`.split(" ");
    expect(await shell.run(argv, streams)).toMatchObject({ code, err: expect.stringContaining(says) });
  });

  test.each<[string, string[], string]>([
    ["ends when its client hangs up", [], ""],
    ["says what it was that ended it", ["-e", "process.exit(0)"], "The server has closed the connection"],
  ])("%s", async (_name, args, says) => {
    const shell = aShell();
    shell.write("policy.yaml", POLICY);
    shell.write("plan.json", PLAN);
    const stdin = new PassThrough();
    if (says === "") stdin.end();
    const argv = [...`mcp --plan plan.json ${LOCAL} --`.split(" "), process.execPath, ...args];
    const ended = await shell.run(argv, { stdin, stdout: new PassThrough() });
    expect(ended).toMatchObject({ code: says === "" ? EXIT.ok : EXIT.failed, err: expect.stringContaining(says) });
  });
});

describe("a server at a URL", () => {
  test("that nobody answers at is told of, to the client and to whoever runs the proxy", async () => {
    const shell = aShell();
    shell.write("policy.yaml", POLICY);
    shell.write("plan.json", PLAN);
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
    // A port that nothing can listen on.
    const argv = `mcp --plan plan.json ${LOCAL} --server http://127.0.0.1:1/mcp`.split(" ");
    const ended = await shell.run(argv, { stdin, stdout });
    expect(ended).toMatchObject({
      code: EXIT.failed,
      err: expect.stringContaining("error: The request could not be sent"),
    });
    expect(String(stdout.read())).toContain('"message":"Intentlock did not start: The request could not be sent');
  });
});

describe("the locked server", () => {
  test("gets the environment without what is Intentlock's", () => {
    const env = { ...ENV, MY_KEY: "ilk_other", INTENTLOCK_PUBLIC_URL: "x", GITHUB_TOKEN: "kept" };
    const options: McpOptions = {
      gate: "http",
      url: "http://127.0.0.1:1",
      apiKeyEnv: "MY_KEY",
      user: "alice@acme.dev",
      plan: "plan.json",
      wait: 1,
      denyAs: "result",
    };
    const silent = { write: () => undefined };
    const { server, gate } = readSettings(options, ["server", "--x"], {
      stdout: silent,
      stderr: silent,
      env,
      cwd: "/",
    });
    const kept = { EMPTY: "", GITHUB_TOKEN: "kept", TOKEN: "t0ken" };
    expect(server).toEqual({ kind: "command", command: "server", args: ["--x"], env: kept });
    expect(gate).toMatchObject({ apiKey: "ilk_other" });
  });
});
