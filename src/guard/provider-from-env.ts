import { IntentlockError } from "../core/index.ts";
import { missingPeer } from "../session/setup-errors.ts";
import { createLazyModel, type LazyModel } from "./lazy-model.ts";

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Settings {
  readonly apiKey: string;
  readonly baseURL?: string;
}

/** A provider that is known by name. */
interface KnownProvider {
  readonly keyVariable: string;
  readonly urlVariable?: string;
  readonly defaultModel: string;
  /** Loads its package. */
  readonly open: (settings: Settings) => Promise<(modelId: string) => LazyModel>;
}

/** In the order in which their keys are looked for. */
const PROVIDERS: ReadonlyMap<string, KnownProvider> = new Map([
  [
    "anthropic",
    {
      keyVariable: "ANTHROPIC_API_KEY",
      urlVariable: "ANTHROPIC_BASE_URL",
      defaultModel: "claude-sonnet-4-6",
      open: async (settings) =>
        (await load("@ai-sdk/anthropic", "^4", import("@ai-sdk/anthropic"))).createAnthropic(settings),
    },
  ],
  [
    "openai",
    {
      keyVariable: "OPENAI_API_KEY",
      urlVariable: "OPENAI_BASE_URL",
      defaultModel: "gpt-5",
      open: async (settings) => {
        const openai = (await load("@ai-sdk/openai", "^4", import("@ai-sdk/openai"))).createOpenAI(settings);
        // What stands in for OpenAI may not know its newer API.
        return settings.baseURL === undefined ? openai : openai.chat;
      },
    },
  ],
  [
    "google",
    {
      keyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
      defaultModel: "gemini-pro-latest",
      open: async (settings) => (await load("@ai-sdk/google", "^4", import("@ai-sdk/google"))).createGoogle(settings),
    },
  ],
] satisfies [string, KnownProvider][]);

/**
 * A language model by what the environment says. The provider's package is loaded when the model is first asked, and only
 * that one.
 *
 * - `INTENTLOCK_BASE_URL` is set: `INTENTLOCK_MODEL` is a model of that server, which speaks OpenAI's API (Ollama, vLLM and
 *   others). `INTENTLOCK_API_KEY` is sent to it, if it is set, and no other key.
 * - Otherwise `INTENTLOCK_MODEL` is `anthropic/NAME`, `openai/NAME` or `google/NAME`, and the provider's own variable has
 *   its key.
 * - Otherwise a model of the first of these providers whose key is set.
 *
 * @param env default: `process.env`
 * @throws IntentlockError `ERR_INVALID_OPTIONS`, naming the variable. The model itself fails with `ERR_MISSING_PEER` if the
 * provider's package is not installed.
 *
 * @example
 * import { providerFromEnv } from "intentlock/guard";
 *
 * const { provider, modelId } = providerFromEnv();
 * console.log(`asking ${modelId} of ${provider}`);
 */
export function providerFromEnv(env: Environment = processEnv()): LazyModel {
  const name = read(env, "INTENTLOCK_MODEL");
  const baseUrl = readUrl(env, "INTENTLOCK_BASE_URL");
  if (baseUrl !== undefined) return ofServer(env, baseUrl, name);
  if (name === undefined) return ofKeys(env);
  const slash = name.indexOf("/");
  const provider = PROVIDERS.get(name.slice(0, Math.max(slash, 0)));
  const modelId = name.slice(slash + 1);
  if (provider && modelId !== "") return ofProvider(env, name.slice(0, slash), modelId);
  throw invalid(
    `INTENTLOCK_MODEL: expected anthropic/NAME, openai/NAME or google/NAME; the name alone, with INTENTLOCK_BASE_URL, for a server that speaks OpenAI's API`,
  );
}

function ofServer(env: Environment, baseURL: string, modelId: string | undefined): LazyModel {
  if (modelId === undefined) {
    throw invalid("INTENTLOCK_MODEL: missing; expected the name of a model of the server at INTENTLOCK_BASE_URL");
  }
  const apiKey = readKey(env, "INTENTLOCK_API_KEY");
  const provider = "openai-compatible";
  const open = async (): Promise<LazyModel> => {
    const { createOpenAICompatible } = await load(
      "@ai-sdk/openai-compatible",
      "^3",
      import("@ai-sdk/openai-compatible"),
    );
    return createOpenAICompatible({ name: provider, baseURL, ...(apiKey !== undefined && { apiKey }) })(modelId);
  };
  return createLazyModel({ provider, modelId, apiKey, open });
}

function ofKeys(env: Environment): LazyModel {
  for (const [name, { keyVariable, defaultModel }] of PROVIDERS) {
    if (read(env, keyVariable) !== undefined) return ofProvider(env, name, defaultModel);
  }
  const keys = [...PROVIDERS.values()].map(({ keyVariable }) => keyVariable).join(", ");
  throw invalid(
    `No model: set one of ${keys}; or INTENTLOCK_BASE_URL and INTENTLOCK_MODEL for a server that speaks OpenAI's API, such as Ollama or vLLM`,
  );
}

function ofProvider(env: Environment, name: string, modelId: string): LazyModel {
  const { keyVariable, urlVariable, open } = PROVIDERS.get(name) as KnownProvider;
  const apiKey = readKey(env, keyVariable);
  if (apiKey === undefined) throw invalid(`${keyVariable}: missing; INTENTLOCK_MODEL names a model of ${name}`);
  const baseURL = urlVariable === undefined ? undefined : readUrl(env, urlVariable);
  const settings = { apiKey, ...(baseURL !== undefined && { baseURL }) };
  return createLazyModel({ provider: name, modelId, apiKey, open: async () => (await open(settings))(modelId) });
}

/** @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
async function load<T>(name: string, range: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (cause) {
    throw missingPeer("guard", name, range, cause);
  }
}

/** Empty is not set. */
function read(env: Environment, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}

/** A key that no header can hold ends up in the message of the error that says so. */
function readKey(env: Environment, variable: string): string | undefined {
  const key = read(env, variable);
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key;
  throw invalid(`${variable}: expected a key, without spaces and line breaks in it`);
}

/** A URL is in what errors say, and a password in it would be, too. */
function readUrl(env: Environment, variable: string): string | undefined {
  const text = read(env, variable);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw invalid(`${variable}: expected a URL, like http://127.0.0.1:11434/v1`);
  if (url.username === "" && url.password === "") return text;
  throw invalid(`${variable}: expected a URL without a name and a password in it`);
}

function processEnv(): Environment {
  return typeof process === "undefined" ? {} : process.env;
}

function invalid(message: string): IntentlockError {
  return new IntentlockError("ERR_INVALID_OPTIONS", message);
}
