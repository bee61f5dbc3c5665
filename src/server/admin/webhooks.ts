import { randomUUID } from "node:crypto";
import {
  type CreatedWebhookAnswer,
  type CreateWebhookBody,
  isWebhookUrl,
  type ListQuery,
  type RemovedAnswer,
  type WebhookAnswer,
  type WebhooksAnswer,
} from "../../core/api/index.ts";
import { ProblemError } from "../handler.ts";
import type { Webhook } from "../store/index.ts";
import { createWebhookSecret } from "../webhooks/sign-webhook.ts";
import { getAgent } from "./agents.ts";
import { toDetails } from "./details.ts";
import { describeEvent, type Operator } from "./operator.ts";
import { takePart } from "./take-part.ts";

/**
 * Adds a webhook. The answer has its secret, and no later one does.
 *
 * @throws ProblemError `not_found` without such an agent, `invalid_request` for a URL that no webhook may have
 */
export async function createWebhook(operator: Operator, body: CreateWebhookBody): Promise<CreatedWebhookAnswer> {
  const { url, agentId } = body;
  if (!isWebhookUrl(url)) {
    throw new ProblemError("invalid_request", { issues: [{ path: "url", message: "expected an https: URL" }] });
  }
  const events = [...new Set(body.events)];
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    if (agentId !== undefined) await getAgent(store, agentId);
    const secret = createWebhookSecret();
    const webhook = { id: randomUUID(), agentId: agentId ?? null, url, events, secret, createdAt: at };
    await store.webhooks.create(webhook);
    // Not the whole URL: paths and queries of webhooks are often what keeps others out.
    const details = toDetails({ origin: new URL(url).origin, events, agentId });
    await store.adminAudit.append(
      describeEvent(operator, { at, action: "webhook.create", target: webhook.id, details }),
    );
    return { ...describeWebhook(webhook), secret };
  });
}

/** The webhooks, oldest first, without their secrets. */
export async function listWebhooks({ store }: Pick<Operator, "store">, query: ListQuery = {}): Promise<WebhooksAnswer> {
  const inUse = (await store.webhooks.list()).filter(({ disabledAt }) => disabledAt === null);
  const { items, ...rest } = takePart(inUse, query, ({ id }) => id);
  return { webhooks: items.map(describeWebhook), ...rest };
}

/** Removes a webhook: nothing is sent to it from here on. @throws ProblemError `not_found` */
export async function removeWebhook(operator: Operator, id: string): Promise<RemovedAnswer> {
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    if (!(await store.webhooks.disable(id, at))) throw new ProblemError("not_found");
    await store.adminAudit.append(describeEvent(operator, { at, action: "webhook.remove", target: id }));
    return { removed: true };
  });
}

function describeWebhook({ id, url, events, agentId, createdAt }: Omit<Webhook, "disabledAt">): WebhookAnswer {
  return { webhookId: id, url, events, ...(agentId !== null && { agentId }), createdAt };
}
