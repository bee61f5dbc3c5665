import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { aShell, type Shell } from "../../../test/command-lines.ts";
import { openStore, type Store } from "../../server/store/index.ts";
import { EXIT } from "../exit-codes.ts";

// Processes, threads and syncs take as long as the machine needs.
vi.setConfig({ testTimeout: 120_000 });

const VALID =
  "version: 1\ndefault: block\nrules:\n  - { id: allow-in-plan, match: { inPlan: true }, decision: allow }\n";

/** Runs command lines, each of which has to be done. */
async function prepare(shell: Shell, ...lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const { code, err } = await shell.run(line.split(" "));
    expect({ line, code, err: code === EXIT.ok ? "" : err }).toEqual({ line, code: EXIT.ok, err: "" });
  }
}

async function withStore<T>(shell: Shell, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ sqlite: join(shell.folder, ".intentlock/intentlock.db") });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A shell beside a store with an agent and an administrator. */
async function aSetup(): Promise<Shell> {
  const shell = aShell();
  await prepare(shell, "user add root@acme.dev --role admin", "agent create triage");
  return shell;
}

describe("agents", () => {
  test("are made, listed, disabled and enabled", async () => {
    const shell = aShell();
    const made = await shell.json([
      "agent",
      "create",
      "triage",
      "--approve-plans",
      "--max-holds",
      "3",
      "--plan-ttl",
      "60",
    ]);
    const settings = { approvePlans: true, maxHolds: 3, planTtlSeconds: 60 };
    const agent = { agentId: expect.any(String), name: "triage", enabled: true, settings };
    expect(made).toMatchObject({ code: EXIT.ok, value: agent });
    expect(await shell.json(["agent", "list"])).toMatchObject({ code: EXIT.ok, value: { agents: [agent] } });
    expect(await shell.json(["agent", "disable", "triage"])).toMatchObject({ value: { enabled: false } });
    expect((await shell.run(["agent", "list"])).out).toMatch(/\ntriage +\S+ +disabled +none /);
    expect(await shell.json(["agent", "enable", "triage"])).toMatchObject({ value: { enabled: true, settings } });
  });

  test("are found by their ids, too", async () => {
    const shell = await aSetup();
    const { value } = await shell.json(["agent", "list"]);
    const [{ agentId } = { agentId: "" }] = (value as { agents: { agentId: string }[] }).agents;
    expect((await shell.run(["agent", "disable", agentId])).out).toBe("Agent triage is disabled.\n");
  });
});

describe("keys", () => {
  test("are shown once, kept as a hash, listed without the key, and revoked", async () => {
    const shell = await aSetup();
    const { code, out, err } = await shell.run(["key", "create", "--agent", "triage", "--owner", "Root@ACME.dev"]);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: expect.stringMatching(/^ilk_[\w-]{43}\n$/),
      err: expect.any(String),
    });
    expect(err).toMatch(/^Key \S+ of triage\. It is not shown again:\n$/);
    const { value } = await shell.json(["key", "list", "--agent", "triage"]);
    const [key] = (value as { keys: { keyId: string }[] }).keys;
    expect(key).toMatchObject({ owner: "root@acme.dev", keyId: expect.any(String) });
    expect(JSON.stringify(value)).not.toContain(out.trim().slice(8));
    const hash = createHash("sha256").update(out.trim()).digest("hex");
    expect(await withStore(shell, (store) => store.apiKeys.findByHash(hash))).toMatchObject({
      key: { id: key?.keyId },
    });
    expect((await shell.run(["key", "revoke", key?.keyId ?? ""])).code).toBe(EXIT.ok);
    expect((await shell.run(["key", "list"])).out).toMatch(/ triage +root@acme\.dev +everybody +revoked /);
  });

  test("may act for some people only", async () => {
    const shell = await aSetup();
    await prepare(shell, "user add alice@acme.dev", "user add bob@acme.dev");
    const people = ["--acts-for", "Alice@acme.dev", "--acts-for", "bob@acme.dev"];
    const made = await shell.json(["key", "create", "--agent", "triage", "--owner", "root@acme.dev", ...people]);
    expect(made).toMatchObject({ code: EXIT.ok, value: { actsFor: ["alice@acme.dev", "bob@acme.dev"] } });
  });
});

describe("people", () => {
  test("are added, changed, listed and removed", async () => {
    const shell = await aSetup();
    await prepare(shell, "user add Alice@acme.dev --group support --group night");
    await prepare(shell, "user add alice@ACME.dev --role approver --role member --role member");
    const alice = { email: "alice@acme.dev", roles: ["approver", "member"], groups: ["support", "night"] };
    const { value } = await shell.json(["user", "list"]);
    expect(value).toMatchObject({ people: [alice, { email: "root@acme.dev", roles: ["admin"] }] });
    const again = await shell.json(["user", "add", "alice@acme.dev", "--group", "day"]);
    expect(again.value).toMatchObject({ ...alice, groups: ["day"] });
    await prepare(shell, "user remove ALICE@acme.dev");
    expect((await shell.run(["user", "list"])).out).not.toContain("alice");
  });

  test("get a link that works once", async () => {
    const shell = await aSetup();
    const { code, out } = await shell.run(["user", "link", "root@acme.dev", "--public-url", "https://lock.acme.dev/"]);
    expect({ code, out }).toEqual({
      code: EXIT.ok,
      out: expect.stringMatching(/^https:\/\/lock\.acme\.dev\/sign-in#[\w-]+\n$/),
    });
    const hash = createHash("sha256")
      .update(out.trim().split("#")[1] ?? "")
      .digest("hex");
    const use = (): Promise<unknown> => withStore(shell, (store) => store.signIn.useLink(hash, Date.now()));
    const used = { email: "root@acme.dev", createdBy: expect.stringMatching(/^cli:/) };
    expect([await use(), await use()]).toEqual([used, undefined]);
    const listed = await withStore(shell, (store) => store.adminAudit.list());
    expect(JSON.stringify(listed)).not.toContain(out.trim().split("#")[1]);
  });

  test("include the last administrator, who is not removed", async () => {
    const shell = await aSetup();
    for (const line of ["user remove root@acme.dev", "user add root@acme.dev --role member"]) {
      const { code, value } = await shell.json(line.split(" "));
      expect({ code, value }).toMatchObject({ code: EXIT.failed, value: { error: { code: "last_admin" } } });
    }
    const { err } = await shell.run(["user", "remove", "root@acme.dev"]);
    expect(err).toBe("error: Somebody has to remain an administrator.\nMake another person an administrator first.\n");
  });
});

describe("policies", () => {
  test("are pushed, as versions", async () => {
    const shell = await aSetup();
    shell.write("a.yaml", VALID);
    const first = await shell.json(["policy", "push", "--agent", "triage", "a.yaml", "--comment", "first"]);
    expect(first).toMatchObject({
      code: EXIT.ok,
      value: { version: 1, comment: "first", createdBy: expect.stringMatching(/^cli:./) },
    });
    const second = await shell.run(["policy", "push", "--agent", "triage", "a.yaml"]);
    expect(second).toEqual({ code: EXIT.ok, out: "triage has version 2 of its policy.\n", err: "" });
    expect((await shell.run(["agent", "list"])).out).toContain(" version 2 ");
    const late = await shell.json(["policy", "push", "--agent", "triage", "a.yaml", "--base-version", "1"]);
    expect(late).toMatchObject({ code: EXIT.failed, value: { error: { code: "policy_changed" } } });
    const third = await shell.json(["policy", "push", "--agent", "triage", "a.yaml", "--base-version", "2"]);
    expect(third).toMatchObject({ code: EXIT.ok, value: { version: 3 } });
  });

  test.each([["push"], ["test"]])("that are not valid: %s refuses them with their places", async (command) => {
    const shell = await aSetup();
    shell.write("a.yaml", "version: 2\n");
    const { code, out, err } = await shell.run(["policy", command, "--agent", "triage", "a.yaml"]);
    expect({ code, out }).toEqual({ code: EXIT.negative, out: "" });
    expect(err).toMatch(/^error: The policy is not valid:\na\.yaml:1:1: .*\na\.yaml:1:10: version: expected 1\n/s);
    const { value } = await shell.json(["policy", command, "--agent", "triage", "a.yaml"]);
    expect(value).toMatchObject({
      error: { code: "ERR_INVALID_POLICY", issues: [{ path: "version", line: 1, column: 10 }, {}, {}] },
    });
  });
});

describe("signing keys", () => {
  test("are made anew, and listed without their private halves", async () => {
    const shell = await aSetup();
    expect((await shell.run(["signing-key", "list"])).out).toMatch(/no signing keys/);
    await prepare(shell, "signing-key rotate", "signing-key rotate");
    const { value } = await shell.json(["signing-key", "list"]);
    const { keys } = value as { keys: { kid: string }[] };
    expect(keys).toHaveLength(2);
    const stored = await withStore(shell, (store) => store.signingKeys.list());
    for (const { privateKey } of stored) expect(JSON.stringify(value)).not.toContain(privateKey.d);
  });
});

describe("what administrators do", () => {
  test("is on record, as done by the user of the command line", async () => {
    const shell = await aSetup();
    await prepare(shell, "agent disable triage", "user link root@acme.dev");
    const entries = await withStore(shell, (store) => store.adminAudit.list());
    expect(entries.length).toBeGreaterThanOrEqual(4);
    for (const { actor } of entries) expect(actor).toMatch(/^cli:./);
    expect((await shell.run(["audit", "verify"])).code).toBe(EXIT.ok);
  });

  test.each<[argv: string, code: number, error: string]>([
    ["agent create triage", EXIT.failed, "already_exists"],
    ["agent create", EXIT.usage, "ERR_USAGE"],
    ["agent create tri\u202eage", EXIT.usage, "ERR_USAGE"],
    ["agent create other --max-holds 1e3", EXIT.usage, "ERR_USAGE"],
    ["agent create other --plan-ttl 0", EXIT.usage, "ERR_USAGE"],
    ["agent disable nobody", EXIT.failed, "ERR_NOT_FOUND"],
    ["key create --owner root@acme.dev", EXIT.usage, "ERR_USAGE"],
    ["key create --agent triage", EXIT.usage, "ERR_USAGE"],
    ["key create --agent triage --owner root", EXIT.usage, "ERR_USAGE"],
    ["key create --agent nobody --owner root@acme.dev", EXIT.failed, "ERR_NOT_FOUND"],
    ["key create --agent triage --owner nobody@acme.dev", EXIT.failed, "unknown_user"],
    ["key list --agent nobody", EXIT.failed, "ERR_NOT_FOUND"],
    ["key revoke none", EXIT.failed, "ERR_NOT_FOUND"],
    ["user add alice", EXIT.usage, "ERR_USAGE"],
    ["user add alice@acme.dev --role boss", EXIT.usage, "ERR_USAGE"],
    ["user add alice@acme.dev --role toString", EXIT.usage, "ERR_USAGE"],
    ["user link nobody@acme.dev", EXIT.failed, "ERR_NOT_FOUND"],
    ["user link root@acme.dev --public-url javascript:alert(1)", EXIT.usage, "ERR_USAGE"],
    ["user remove nobody@acme.dev", EXIT.failed, "ERR_NOT_FOUND"],
    ["policy push --agent triage none.yaml", EXIT.failed, "ERR_FILE"],
    ["policy test --agent nobody none.yaml", EXIT.failed, "ERR_FILE"],
    ["policy test --agent triage none.yaml --replay 1001", EXIT.usage, "ERR_USAGE"],
  ])("%j fails with %i: %s", async (argv, code, error) => {
    const shell = await aSetup();
    const { code: ended, value } = await shell.json(argv.split(" "));
    expect({ code: ended, value }).toMatchObject({
      code,
      value: { error: { code: error, message: expect.stringMatching(/../) } },
    });
  });

  test.each([
    "agent list",
    "agent disable x",
    "key list",
    "user list",
    "user link a@b.dev",
    "user remove a@b.dev",
    "signing-key list",
    "signing-key rotate",
  ])("%s makes no database where there is none", async (line) => {
    const { code, value } = await aShell().json(line.split(" "));
    expect({ code, value }).toMatchObject({ code: EXIT.failed, value: { error: { code: "ERR_NO_STORE" } } });
  });
});
