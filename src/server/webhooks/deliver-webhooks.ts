import { isWebhookUrl } from "../../core/api/index.ts";
import type { ServerContext } from "../handler.ts";
import type { DueDelivery } from "../store/index.ts";
import { describeMessage } from "./describe-message.ts";
import { signWebhook } from "./sign-webhook.ts";

/** How long a receiver may take to answer. */
const TIMEOUT_MS = 10_000;
/** How long one instance has a delivery for itself: longer than a try takes. */
const LEASE_MS = 60_000;
/** As many as are tried at once. */
const MAX_AT_ONCE = 20;
/** The pauses after each try that failed, in seconds. After the last there is none: it is given up, a day later. */
const PAUSES: readonly number[] = [5, 30, 120, 600, 3600, 14_400, 57_600];

export type Deliverer = Pick<ServerContext, "store" | "clock" | "log" | "publicUrl">;

export interface DeliverOptions {
  readonly fetch?: typeof fetch | undefined;
  /** Ends what is under way; it is tried again when its lease is over. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends what is due to webhooks, once each, by whichever instance takes it.
 *
 * @returns how many were tried: as long as there are some, there may be more
 */
export async function deliverWebhooks(context: Deliverer, options: DeliverOptions = {}): Promise<number> {
  const due = await context.store.webhooks.takeDue({ now: context.clock(), limit: MAX_AT_ONCE, leaseMs: LEASE_MS });
  await Promise.all(due.map((delivery) => deliver(context, delivery, options)));
  return due.length;
}

async function deliver(context: Deliverer, delivery: DueDelivery, options: DeliverOptions): Promise<void> {
  const { store, clock, log } = context;
  const error = await send(context, delivery, options);
  // Nobody knows what came of it: whoever takes it next tries again.
  if (options.signal?.aborted) return;
  if (error === undefined) {
    await store.webhooks.markDelivered(delivery.id, clock());
    return;
  }
  const pause = error === GONE ? undefined : PAUSES[delivery.attempts - 1];
  const nextAttemptAt = pause === undefined ? null : clock() + pause * 1000;
  await store.webhooks.markFailed(delivery.id, { error, nextAttemptAt });
  const { id, attempts, event } = delivery;
  log.warn({ deliveryId: id, event, attempts, error, isGivenUp: nextAttemptAt === null }, "webhook not delivered");
}

/** The receiver wants no more of it. */
const GONE = "status 410";

/** @returns what went wrong, in words of our own: a network's may quote the URL */
async function send(
  { store, clock, publicUrl }: Deliverer,
  { id, url, secret, holdId, event }: DueDelivery,
  { fetch: send = fetch, signal }: DeliverOptions,
): Promise<string | undefined> {
  // Looked at again: it is what keeps the server from asking others in its own network in the clear.
  if (!isWebhookUrl(url)) return "not a URL for a webhook";
  const hold = await store.holds.get(holdId);
  const plan = hold && (await store.plans.state(hold.planId));
  if (!hold || !plan) return "there is no such hold";
  const body = JSON.stringify(describeMessage(event, hold, { user: plan.userEmail, publicUrl }));
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const headers = signWebhook(body, { id, nowSeconds: Math.floor(clock() / 1000), secret });
    const response = await send(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "user-agent": "intentlock" },
      body,
      // A redirect would lead wherever the receiver likes, in this network too.
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    // What it says is of no use, and may be endless.
    await response.body?.cancel();
    return response.status >= 200 && response.status < 300 ? undefined : `status ${response.status}`;
  } catch {
    return timeout.aborted ? "no answer in time" : "it could not be sent";
  }
}
