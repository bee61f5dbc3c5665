import type { LanguageModel } from "ai";
import { hideKey } from "./hide-key.ts";

/** A language model of the AI SDK, of its newest kind. */
export type LazyModel = Extract<Exclude<LanguageModel, string>, { readonly specificationVersion: "v4" }>;

/**
 * A model that is made when it is first asked. The key that it has been given is in none of its errors, whoever puts it
 * there: some servers repeat it in their answers.
 */
export function createLazyModel({
  provider,
  modelId,
  apiKey,
  open,
}: {
  readonly provider: string;
  readonly modelId: string;
  readonly apiKey: string | undefined;
  readonly open: () => Promise<LazyModel>;
}): LazyModel {
  let opened: Promise<LazyModel> | undefined;
  async function ask<T>(work: (model: LazyModel) => PromiseLike<T>): Promise<T> {
    try {
      opened ??= open();
      return await work(await opened);
    } catch (error) {
      throw hideKey(error, apiKey);
    }
  }
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    // Known only once it is made: the SDK fetches the files of a prompt itself.
    supportedUrls: {},
    doGenerate: async (options) => await ask((model) => model.doGenerate(options)),
    doStream: async (options) => await ask((model) => model.doStream(options)),
  };
}
