import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.doUnmock("ai");
  vi.resetModules();
});

test("gives the SDK", async () => {
  const { loadAi } = await import("./load-ai.ts");
  expect(await loadAi()).toHaveProperty("generateText");
});

test("a missing SDK is an error with the command that installs it, before anything is signed", async () => {
  const missing = Object.assign(new Error("Cannot find package 'ai'"), { code: "ERR_MODULE_NOT_FOUND" });
  vi.doMock("ai", () => {
    throw missing;
  });
  const { withIntentlock } = await import("./with-intentlock.ts");
  const sign = vi.fn();
  const tools = { pay: { inputSchema: {}, execute: () => undefined } };
  const locking = withIntentlock(tools as never, { gate: { sign } as never, user: "a@b.c", task: "pay" });
  await expect(locking).rejects.toMatchObject({
    name: "IntentlockError",
    code: "ERR_MISSING_PEER",
    message: 'intentlock/vercel-ai needs the package "ai": npm install ai@^7',
    cause: expect.any(Error),
  });
  expect(sign).not.toHaveBeenCalled();
});
