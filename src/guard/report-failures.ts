import type { ModelMessage } from "ai";
import { loadAi } from "../adapters/vercel-ai/load-ai.ts";
import { IntentlockError } from "../core/index.ts";
import { describeThrown } from "../session/describe-thrown.ts";
import { emit } from "../session/events.ts";
import type { GuardOptions, PlannedRequest } from "./guard-options.ts";
import { describeFailure, lastOf, ProviderError } from "./provider-error.ts";
import { type WatchedModel, watchModel } from "./watch-model.ts";

/** Where a run is. */
export interface Trail {
  planId?: string;
  messages?: readonly ModelMessage[];
}

/**
 * Does something with the guard's model. What goes wrong is told as an event and thrown; what the model's provider has
 * to do with, as a ProviderError. The reason of an abort is nobody's failure: it is thrown as it is.
 */
export async function reportFailures<T>(
  { provider, onEvent }: GuardOptions,
  { signal }: PlannedRequest,
  work: (watched: WatchedModel, trail: Trail) => Promise<T>,
): Promise<T> {
  const trail: Trail = {};
  let watched: WatchedModel | undefined;
  try {
    signal?.throwIfAborted();
    watched = await watchModel(provider);
    return await work(watched, trail);
  } catch (error) {
    signal?.throwIfAborted();
    const isOurs = error instanceof IntentlockError || !(await isOfProvider(error, watched));
    const name = watched?.model.provider ?? (typeof provider === "string" ? provider : provider.provider);
    const cause = isOurs ? error : new ProviderError(name, describeFailure(error), { ...trail, cause: error });
    const code = cause instanceof IntentlockError && { code: cause.code };
    const { planId } = trail;
    emit(onEvent, {
      type: "error",
      ...(planId !== undefined && { planId }),
      ...code,
      message: describeThrown(cause),
      cause,
    });
    throw cause;
  }
}

/** What the model threw, and what the SDK makes of its answers. All else is the application's own. */
async function isOfProvider(error: unknown, watched: WatchedModel | undefined): Promise<boolean> {
  if (watched?.hasThrown(lastOf(error))) return true;
  const { AISDKError } = await loadAi();
  return AISDKError.isInstance(error);
}
