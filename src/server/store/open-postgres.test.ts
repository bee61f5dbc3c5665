import { createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { openStore } from "./index.ts";

afterEach(() => {
  vi.doUnmock("pg");
  vi.resetModules();
});

test.each<[string, Parameters<typeof openStore>[0]]>([
  ["another protocol", { postgres: "mysql://user:secret@host/db" }],
  ["no URL", { postgres: "postgres://user:secret@[host/db" }],
  ["a schema with a quote", { postgres: "postgres://user:secret@host/db", schema: 'x"; DROP SCHEMA public; --' }],
  ["a schema in capitals", { postgres: "postgres://user:secret@host/db", schema: "Acme" }],
  ["a schema that is too long", { postgres: "postgres://user:secret@host/db", schema: "x".repeat(64) }],
  ["no connections", { postgres: "postgres://user:secret@host/db", poolSize: 0 }],
])("%s is refused, without the password in the message", async (_, options) => {
  await expect(openStore(options)).rejects.toMatchObject({
    code: "ERR_INVALID_OPTIONS",
    message: expect.not.stringContaining("secret"),
  });
});

test("a server that does not answer is said so, without the password", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const opening = openStore({ postgres: `postgres://user:secret@127.0.0.1:${port}/db` });
  await expect(opening).rejects.toMatchObject({
    code: "ERR_STORE_UNUSABLE",
    message: expect.stringMatching(/^PostgreSQL cannot be used \(.*ECONNREFUSED.*\): check the URL/),
  });
  await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining("secret") });
});

test("without the package pg it says what to install", async () => {
  vi.doMock("pg", () => {
    throw Object.assign(new Error("Cannot find package 'pg'"), { code: "ERR_MODULE_NOT_FOUND" });
  });
  const store = await import("./index.ts");
  await expect(store.openStore({ postgres: "postgres://host/db" })).rejects.toMatchObject({
    code: "ERR_MISSING_PEER",
    message: 'intentlock/server needs the package "pg" for PostgreSQL: npm install pg@^8.16.0',
  });
});
