import { z } from "zod";
import { secondsSchema } from "../fields.ts";
import { closedObject } from "../schema.ts";
import type { Endpoint } from "./endpoint.ts";
import { type HoldStatus, holdStatusSchema } from "./holds.ts";
import { type RemovedAnswer, removedAnswerSchema } from "./people.ts";
import { type ListQuery, listQuerySchema, momentSchema, serverIdSchema } from "./values.ts";

/** What a webhook is told of. */
export type WebhookEvent = "hold.pending" | "hold.decided";

export interface CreateWebhookBody {
  /** `https:`; `http:` on this machine only. */
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Of this agent only. */
  readonly agentId?: string;
}

export interface WebhookAnswer extends CreateWebhookBody {
  readonly webhookId: string;
  readonly createdAt: number;
}

/** The one time that the secret is shown with which requests to the webhook are signed. */
export interface CreatedWebhookAnswer extends WebhookAnswer {
  readonly secret: string;
}

export interface WebhooksAnswer {
  readonly webhooks: readonly WebhookAnswer[];
  readonly next?: string;
}

/** What is sent to a webhook. The arguments of the call are not in it: who decides sees them in the inbox. */
export interface WebhookMessage {
  readonly event: WebhookEvent;
  readonly holdId: string;
  readonly kind: "call" | "plan";
  readonly planId: string;
  readonly agentId: string;
  /** Of a call. */
  readonly tool?: string;
  /** E-mail of the person that the agent acts for. */
  readonly user: string;
  /** Of `hold.decided`: what became of it. */
  readonly status?: HoldStatus;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
  /** Where people decide about it. */
  readonly inboxUrl: string;
}

const events = z
  .array(z.enum(["hold.pending", "hold.decided"]))
  .min(1)
  .max(2);

export const createWebhookBodySchema: z.ZodType<CreateWebhookBody> = closedObject({
  url: z
    .string()
    .max(2000)
    .refine(isWebhookUrl, "expected an https: URL without a user name, or an http: URL on this machine")
    .meta({ format: "uri" }),
  events,
  agentId: serverIdSchema.exactOptional(),
});

const webhook = {
  webhookId: serverIdSchema,
  url: z.string(),
  events,
  agentId: serverIdSchema.exactOptional(),
  createdAt: momentSchema,
};

export const webhookAnswerSchema: z.ZodType<WebhookAnswer> = z.object(webhook);

export const webhookMessageSchema: z.ZodType<WebhookMessage> = z.object({
  event: z.enum(["hold.pending", "hold.decided"]),
  holdId: serverIdSchema,
  kind: z.enum(["call", "plan"]),
  planId: serverIdSchema,
  agentId: serverIdSchema,
  tool: z.string().max(64).exactOptional(),
  user: z.string().max(254),
  status: holdStatusSchema.exactOptional(),
  expiresAt: secondsSchema,
  inboxUrl: z.string().max(2000),
});

export const createdWebhookAnswerSchema: z.ZodType<CreatedWebhookAnswer> = z.object({ ...webhook, secret: z.string() });

/** Whether a webhook may have this URL: what is sent travels over TLS, or does not leave the machine. */
export function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.includes(hostname));
}

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Where other systems are told of holds. */
export const webhookEndpoints: {
  readonly createWebhook: Endpoint<CreateWebhookBody, CreatedWebhookAnswer>;
  readonly listWebhooks: Endpoint<undefined, WebhooksAnswer, ListQuery>;
  readonly removeWebhook: Endpoint<undefined, RemovedAnswer>;
} = {
  createWebhook: {
    method: "POST",
    path: "/v1/webhooks",
    summary: "Adds a webhook and shows its secret, once",
    auth: ["admin"],
    body: createWebhookBodySchema,
    answers: { 201: createdWebhookAnswerSchema },
    problems: ["not_found"],
  },
  listWebhooks: {
    method: "GET",
    path: "/v1/webhooks",
    summary: "The webhooks, without their secrets",
    auth: ["admin"],
    query: listQuerySchema,
    answers: { 200: z.object({ webhooks: z.array(webhookAnswerSchema), next: z.string().exactOptional() }) },
  },
  removeWebhook: {
    method: "DELETE",
    path: "/v1/webhooks/{webhookId}",
    summary: "Removes a webhook",
    auth: ["admin"],
    answers: { 200: removedAnswerSchema },
  },
};
