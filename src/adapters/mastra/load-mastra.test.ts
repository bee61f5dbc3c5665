import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.doUnmock("@mastra/core/agent");
  vi.resetModules();
});

test("gives Mastra", async () => {
  const { loadMastra } = await import("./load-mastra.ts");
  expect(Object.keys(await loadMastra())).toEqual(["Agent", "createTool"]);
});

test("a missing Mastra is an error with the command that installs it", async () => {
  vi.doMock("@mastra/core/agent", () => {
    throw Object.assign(new Error("Cannot find package '@mastra/core'"), { code: "ERR_MODULE_NOT_FOUND" });
  });
  const { planWithModel } = await import("./plan-with-model.ts");
  const planning = planWithModel("openai/gpt-5")({ system: "", prompt: "", tool: {} as never });
  await expect(planning).rejects.toMatchObject({
    name: "IntentlockError",
    code: "ERR_MISSING_PEER",
    message: 'intentlock/mastra needs the package "@mastra/core": npm install @mastra/core@^1',
    cause: expect.any(Error),
  });
});
