import type { LanguageModel } from "ai";
import { loadAi } from "../adapters/vercel-ai/load-ai.ts";

/** Tokens, as far as the provider counts them. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A model of the SDK that is no id. */
export type Model = Exclude<LanguageModel, string>;

/** A model whose usage is counted, for the plan and after it, and whose failures can be told from others. */
export interface WatchedModel {
  readonly model: Model;
  readonly usage: () => Usage;
  readonly hasThrown: (error: unknown) => boolean;
}

export async function watchModel(given: LanguageModel): Promise<WatchedModel> {
  const { wrapLanguageModel } = await loadAi();
  let [inputTokens, outputTokens] = [0, 0];
  const thrown = new Set<unknown>();
  const model = wrapLanguageModel({
    model: await resolveModel(given),
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: async ({ doGenerate }) => {
        try {
          const result = await doGenerate();
          inputTokens += result.usage.inputTokens.total ?? 0;
          outputTokens += result.usage.outputTokens.total ?? 0;
          return result;
        } catch (error) {
          thrown.add(error);
          throw error;
        }
      },
    },
  });
  return { model, usage: () => ({ inputTokens, outputTokens }), hasThrown: (error) => thrown.has(error) };
}

/** As the SDK does: an id is one of the application's default provider, or else of its gateway. */
async function resolveModel(model: LanguageModel): Promise<Model> {
  if (typeof model !== "string") return model;
  const { gateway } = await loadAi();
  const provider = (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway) as { languageModel(id: string): Model };
  return provider.languageModel(model);
}
