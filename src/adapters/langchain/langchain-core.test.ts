import { afterEach, expect, test, vi } from "vitest";

const MISSING = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });

afterEach(() => {
  vi.doUnmock("@langchain/core/tools");
  vi.doUnmock("langchain");
  vi.resetModules();
});

function hide(name: string): void {
  vi.resetModules();
  vi.doMock(name, () => {
    throw MISSING;
  });
}

test("without @langchain/core there is an error with the command that installs it", async () => {
  hide("@langchain/core/tools");
  await expect(import("./index.ts")).rejects.toMatchObject({
    name: "IntentlockError",
    code: "ERR_MISSING_PEER",
    message: 'intentlock/langchain needs the package "@langchain/core": npm install @langchain/core@^1',
    cause: expect.any(Error),
  });
});

test("without langchain there is one for the middleware, and the rest works", async () => {
  hide("langchain");
  await expect(import("./middleware.ts")).rejects.toMatchObject({
    code: "ERR_MISSING_PEER",
    message: 'intentlock/langchain/middleware needs the package "langchain": npm install langchain@^1',
  });
  expect(await import("./index.ts")).toHaveProperty("lockTools");
});
