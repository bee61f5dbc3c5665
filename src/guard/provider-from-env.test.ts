import { afterEach, describe, expect, test, vi } from "vitest";
import { type Environment, providerFromEnv } from "./provider-from-env.ts";

const KEY = "sk-not-a-real-key-0123456789";
const GOOGLE_KEY = "GOOGLE_GENERATIVE_AI_API_KEY";
const OLLAMA = "http://127.0.0.1:11434/v1";
const PROMPT = [{ role: "user", content: [{ type: "text", text: "hello" }] }] as const;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** What a model sends first, and with which headers. */
async function ask(env: Environment): Promise<{ readonly url: string; readonly headers: Headers }> {
  const fetch = vi.fn(async () => Response.json({ error: { message: "no" } }, { status: 401 }));
  vi.stubGlobal("fetch", fetch);
  const asking = providerFromEnv(env).doGenerate({ prompt: [...PROMPT] as never });
  await expect(asking).rejects.toMatchObject({ statusCode: 401 });
  const [url, init] = fetch.mock.calls[0] as unknown as [string, RequestInit];
  return { url: String(url), headers: new Headers(init.headers) };
}

describe("the model", () => {
  test.each<[string, Environment, string, string]>([
    ["Anthropic's, by its key", { ANTHROPIC_API_KEY: KEY }, "anthropic", "claude-sonnet-4-6"],
    ["OpenAI's, by its key", { OPENAI_API_KEY: KEY }, "openai", "gpt-5"],
    ["Google's, by its key", { [GOOGLE_KEY]: KEY }, "google", "gemini-pro-latest"],
    [
      "Anthropic's, if all keys are set",
      { OPENAI_API_KEY: KEY, [GOOGLE_KEY]: KEY, ANTHROPIC_API_KEY: KEY },
      "anthropic",
      "claude-sonnet-4-6",
    ],
    ["OpenAI's, if Anthropic's key is empty", { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: KEY }, "openai", "gpt-5"],
    [
      "the one that is named",
      { INTENTLOCK_MODEL: "google/pro", [GOOGLE_KEY]: KEY, OPENAI_API_KEY: KEY },
      "google",
      "pro",
    ],
    ["one with a slash in its name", { INTENTLOCK_MODEL: "openai/ft/acme", OPENAI_API_KEY: KEY }, "openai", "ft/acme"],
    [
      "of a server, by its name",
      { INTENTLOCK_MODEL: "qwen3:8b", INTENTLOCK_BASE_URL: OLLAMA },
      "openai-compatible",
      "qwen3:8b",
    ],
    [
      "of a server, whatever keys there are",
      { INTENTLOCK_MODEL: "anthropic/any", INTENTLOCK_BASE_URL: OLLAMA, ANTHROPIC_API_KEY: KEY },
      "openai-compatible",
      "anthropic/any",
    ],
  ])("is %s", (_, env, provider, modelId) => {
    expect(providerFromEnv(env)).toMatchObject({ specificationVersion: "v4", provider, modelId });
  });

  test("is chosen by process.env unless told otherwise", () => {
    vi.stubEnv("INTENTLOCK_MODEL", "some-model");
    vi.stubEnv("INTENTLOCK_BASE_URL", OLLAMA);
    expect(providerFromEnv().modelId).toBe("some-model");
  });
});

describe("what is sent", () => {
  test.each<[string, Environment, string, string, string | null]>([
    ["Anthropic", { ANTHROPIC_API_KEY: `${KEY}\n` }, "https://api.anthropic.com/v1/messages", "x-api-key", KEY],
    [
      "Anthropic's stand-in",
      { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `${OLLAMA}/` },
      `${OLLAMA}/messages`,
      "x-api-key",
      KEY,
    ],
    ["OpenAI", { OPENAI_API_KEY: KEY }, "https://api.openai.com/v1/responses", "authorization", `Bearer ${KEY}`],
    [
      "OpenAI's stand-in",
      { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: OLLAMA },
      `${OLLAMA}/chat/completions`,
      "authorization",
      `Bearer ${KEY}`,
    ],
    [
      "Google",
      { [GOOGLE_KEY]: KEY, INTENTLOCK_MODEL: "google/pro" },
      "https://generativelanguage.googleapis.com/v1beta/models/pro:generateContent",
      "x-goog-api-key",
      KEY,
    ],
    [
      "a server that wants a key",
      { INTENTLOCK_MODEL: "m", INTENTLOCK_BASE_URL: OLLAMA, INTENTLOCK_API_KEY: KEY },
      `${OLLAMA}/chat/completions`,
      "authorization",
      `Bearer ${KEY}`,
    ],
    [
      "a server that wants none, and no other's key",
      { INTENTLOCK_MODEL: "m", INTENTLOCK_BASE_URL: OLLAMA, OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY },
      `${OLLAMA}/chat/completions`,
      "authorization",
      null,
    ],
  ])("to %s", async (_, env, url, header, value) => {
    vi.stubEnv("ANTHROPIC_BASE_URL", undefined);
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    const sent = await ask(env);
    expect([sent.url, sent.headers.get(header)]).toEqual([url, value]);
  });
});

describe("an environment that says too little", () => {
  test.each<[string, Environment, string]>([
    [
      "nothing",
      {},
      "No model: set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY; or INTENTLOCK_BASE_URL",
    ],
    ["no provider", { INTENTLOCK_MODEL: "gpt-5", OPENAI_API_KEY: KEY }, "INTENTLOCK_MODEL: expected anthropic/NAME"],
    [
      "another provider",
      { INTENTLOCK_MODEL: "antropic/any", ANTHROPIC_API_KEY: KEY },
      "INTENTLOCK_MODEL: expected anthropic/NAME",
    ],
    ["a provider's name that every object has", { INTENTLOCK_MODEL: "constructor/any" }, "INTENTLOCK_MODEL: expected"],
    ["no name", { INTENTLOCK_MODEL: "openai/", OPENAI_API_KEY: KEY }, "INTENTLOCK_MODEL: expected"],
    ["no key", { INTENTLOCK_MODEL: "openai/any", ANTHROPIC_API_KEY: KEY }, "OPENAI_API_KEY: missing"],
    [
      "a key that cannot be sent",
      { OPENAI_API_KEY: `${KEY}\n${KEY}` },
      "OPENAI_API_KEY: expected a key, without spaces",
    ],
    ["a key of other letters", { ANTHROPIC_API_KEY: "ключ-ключ" }, "ANTHROPIC_API_KEY: expected a key"],
    ["a server without a model", { INTENTLOCK_BASE_URL: OLLAMA }, "INTENTLOCK_MODEL: missing"],
    [
      "no URL",
      { INTENTLOCK_BASE_URL: "localhost:11434", INTENTLOCK_MODEL: "m" },
      "INTENTLOCK_BASE_URL: expected a URL, like",
    ],
    [
      "a URL with a password",
      { INTENTLOCK_BASE_URL: `http://a:${KEY}@acme.dev/v1`, INTENTLOCK_MODEL: "m" },
      "without a name and a password",
    ],
    ["no URL of the provider", { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "/v1" }, "OPENAI_BASE_URL: expected a URL"],
  ])("%s", (_, env, message) => {
    let thrown: unknown;
    try {
      providerFromEnv(env);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "ERR_INVALID_OPTIONS", message: expect.stringContaining(message) });
    expect(JSON.stringify(thrown) + String(thrown)).not.toContain(KEY);
  });
});

describe("a package that is not installed", () => {
  test.each<[string, Environment, string]>([
    ["@ai-sdk/anthropic", { ANTHROPIC_API_KEY: KEY }, "^4"],
    ["@ai-sdk/openai", { OPENAI_API_KEY: KEY }, "^4"],
    ["@ai-sdk/google", { [GOOGLE_KEY]: KEY }, "^4"],
    ["@ai-sdk/openai-compatible", { INTENTLOCK_MODEL: "m", INTENTLOCK_BASE_URL: OLLAMA }, "^3"],
  ])("%s is missed when its model is asked, and by no other", async (name, env, range) => {
    for (const other of ["@ai-sdk/anthropic", "@ai-sdk/openai", "@ai-sdk/google", "@ai-sdk/openai-compatible"]) {
      vi.doMock(other, () => {
        throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
      });
    }
    const { providerFromEnv: choose } = await import("./provider-from-env.ts");
    const model = choose(env);
    await expect(model.doGenerate({ prompt: [...PROMPT] as never })).rejects.toMatchObject({
      code: "ERR_MISSING_PEER",
      message: `intentlock/guard needs the package "${name}": npm install ${name}@${range}`,
    });
    for (const other of ["@ai-sdk/anthropic", "@ai-sdk/openai", "@ai-sdk/google", "@ai-sdk/openai-compatible"]) {
      vi.doUnmock(other);
    }
  });
});
