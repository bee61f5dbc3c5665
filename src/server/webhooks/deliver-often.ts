import { setTimeout as sleep } from "node:timers/promises";
import { describeError } from "../http/log-request.ts";
import { type Deliverer, type DeliverOptions, deliverWebhooks } from "./deliver-webhooks.ts";

/** How often it is looked whether something is due. */
const EVERY_MS = 1000;

/**
 * Sends to webhooks from here on, also what an earlier process has left.
 *
 * @returns ends it, and what is under way with it: that is tried again later
 */
export function deliverOften(
  context: Deliverer,
  { everyMs = EVERY_MS, ...options }: Omit<DeliverOptions, "signal"> & { readonly everyMs?: number } = {},
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const tried = await deliverWebhooks(context, { ...options, signal }).catch((error) => {
        context.log.error({ error: describeError(error) }, "webhooks cannot be delivered");
        return 0;
      });
      // It keeps no process alive.
      if (tried === 0) await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
