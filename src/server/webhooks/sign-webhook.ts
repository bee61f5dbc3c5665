import { createHmac, randomBytes } from "node:crypto";

// Standard Webhooks 1.0 (https://www.standardwebhooks.com), with the symmetric scheme `v1`.

const SECRET_PREFIX = "whsec_";
/** Bytes of a secret: the scheme takes 24 to 64. */
const SECRET_BYTES = 32;

/** What a message of a webhook says of itself. */
export interface WebhookHeaders {
  /** The same in every try of one message. */
  readonly "webhook-id": string;
  /** Seconds since the epoch. */
  readonly "webhook-timestamp": string;
  /** One or more signatures, with spaces between them. */
  readonly "webhook-signature": string;
}

export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The headers of a message. */
export function signWebhook(
  body: string,
  { id, nowSeconds, secret }: { readonly id: string; readonly nowSeconds: number; readonly secret: string },
): WebhookHeaders {
  const timestamp = String(nowSeconds);
  const signature = signMessage({ id, timestamp, body }, secret).toString("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

/** HMAC-SHA256 of the id, the time and the body, with dots between them. */
export function signMessage(
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: string },
  secret: string,
): Buffer {
  return createHmac("sha256", readSecret(secret)).update(`${id}.${timestamp}.${body}`).digest();
}

/** @throws TypeError for what is no secret: an empty one would verify what anybody has signed */
function readSecret(secret: string): Buffer {
  const [, text] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(text ?? "", "base64");
  if (key.length < 24) throw new TypeError("Expected a webhook's secret: whsec_ and base64");
  return key;
}
