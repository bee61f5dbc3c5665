import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { aShell } from "../../test/command-lines.ts";
import { POSTGRES_URL, runPostgres } from "../../test/stores.ts";
import { EXIT } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import { locateStore } from "./locate-store.ts";

const stream = { write: () => true };
const io = (env: CliIo["env"]): CliIo => ({ stdout: stream, stderr: stream, env, cwd: "/srv" });
const URL_WITH_PASSWORD = "postgres://root:secret@db:5433/lock?sslmode=require";

describe("the store", () => {
  test.each<[database: string | undefined, env: CliIo["env"], options: object, shown: string]>([
    [undefined, {}, { sqlite: "/srv/.intentlock/intentlock.db" }, "/srv/.intentlock/intentlock.db"],
    [undefined, { DATABASE_URL: "" }, { sqlite: "/srv/.intentlock/intentlock.db" }, "/srv/.intentlock/intentlock.db"],
    ["lock.db", { DATABASE_URL: URL_WITH_PASSWORD }, { sqlite: "/srv/lock.db" }, "/srv/lock.db"],
    ["/var/lock.db", {}, { sqlite: "/var/lock.db" }, "/var/lock.db"],
    ["file:x?mode=memory", {}, { sqlite: "/srv/file:x?mode=memory" }, "/srv/file:x?mode=memory"],
    [":memory:", {}, { sqlite: "/srv/:memory:" }, "/srv/:memory:"],
    [undefined, { DATABASE_URL: URL_WITH_PASSWORD }, { postgres: URL_WITH_PASSWORD }, "postgres://db:5433/lock"],
    [URL_WITH_PASSWORD, {}, { postgres: URL_WITH_PASSWORD }, "postgres://db:5433/lock"],
    ["postgresql://db/lock", {}, { postgres: "postgresql://db/lock" }, "postgres://db/lock"],
    ["postgres://root:secret@", {}, { postgres: "postgres://root:secret@" }, "PostgreSQL"],
  ])("with --database %s and %j is %j", (database, env, options, shown) => {
    expect(locateStore(database, io(env))).toEqual({ options, shown });
  });

  test.each<[database: string | undefined, env: CliIo["env"]]>([
    ["", {}],
    ["mysql://root:secret@db/lock", {}],
    ["https://root:secret@db/lock", {}],
    [undefined, { DATABASE_URL: "mysql://root:secret@db/lock" }],
    [undefined, { DATABASE_URL: "lock.db" }],
  ])("is none with --database %s and %j, and no password is shown", (database, env) => {
    const locate = () => locateStore(database, io(env));
    expect(locate).toThrow(expect.objectContaining({ code: "ERR_USAGE", exitCode: EXIT.usage }));
    expect(locate).not.toThrow(/secret/);
  });
});

test.skipIf(POSTGRES_URL === undefined)("commands work on PostgreSQL", async () => {
  const schema = `intentlock_test_${randomUUID().replaceAll("-", "")}`;
  await runPostgres(`CREATE SCHEMA ${schema}`);
  onTestFinished(() => runPostgres(`DROP SCHEMA ${schema} CASCADE`));
  const url = new URL(POSTGRES_URL ?? "");
  url.searchParams.set("options", `-c search_path=${schema}`);
  const shell = aShell({ DATABASE_URL: url.href });
  for (const line of [
    "user add root@acme.dev --role admin",
    "agent create triage",
    "signing-key rotate",
    "audit verify",
  ]) {
    expect(await shell.run(line.split(" "))).toMatchObject({ code: EXIT.ok, err: "" });
  }
  const { code, out } = await shell.run(["agent", "list"]);
  expect({ code, out }).toEqual({ code: EXIT.ok, out: expect.stringMatching(/\ntriage +\S+ +in use +none /) });
});
