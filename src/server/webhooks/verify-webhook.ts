import { timingSafeEqual } from "node:crypto";
import { readMessage, type WebhookMessage, webhookMessageSchema } from "../../core/api/index.ts";
import { parseJson } from "../../core/index.ts";
import { signMessage } from "./sign-webhook.ts";

/** How far the time of a message may be from the receiver's, in seconds. */
const TOLERANCE_SECONDS = 300;
/** As long as a header is read. */
const MAX_HEADER_CHARACTERS = 4096;

/** What a webhook received: a message of the server, or not. */
export type VerifiedWebhook =
  | { readonly valid: true; readonly message: WebhookMessage }
  | { readonly valid: false; readonly problem: string };

/**
 * Verifies what a webhook received. For receivers: the signature says that it is from the server and of the last five
 * minutes. A message can come twice with the same `webhook-id`, and it says no more than that there is a hold: ask the
 * server what became of it.
 *
 * @param body as it was received, not parsed and printed again
 * @param headers names in any case, if they are of a `Headers`; else in lower case, as Node.js has them
 * @param secret `whsec_…`, as it was shown when the webhook was made; several while one is replaced by another
 * @param options.now milliseconds since the epoch; the time of this machine unless told
 * @throws TypeError if the secret is none
 *
 * @example
 * import { verifyWebhook } from "intentlock/server";
 *
 * export async function receive(request: Request, secret: string): Promise<Response> {
 *   const verified = verifyWebhook(await request.text(), request.headers, secret);
 *   if (!verified.valid) return new Response(verified.problem, { status: 400 });
 *   console.log(`${verified.message.tool} waits: ${verified.message.inboxUrl}`);
 *   return new Response(null, { status: 204 });
 * }
 */
export function verifyWebhook(
  body: string,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  secret: string | readonly string[],
  { now = Date.now() }: { readonly now?: number } = {},
): VerifiedWebhook {
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signatures = readHeader(headers, "webhook-signature");
  if (id === undefined || timestamp === undefined || signatures === undefined) return refuse("a header is missing");
  if (!/^\d{1,12}$/.test(timestamp)) return refuse("the time is none");
  // Both before the time: who has not signed it learns nothing of this machine's.
  const secrets = typeof secret === "string" ? [secret] : secret;
  const isSigned = secrets.map((one) => isAnySignature(signatures, signMessage({ id, timestamp, body }, one)));
  if (!isSigned.includes(true)) return refuse("the signature is not the server's");
  if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return refuse("it is too old, or of the future");
  return readBody(body);
}

function isAnySignature(header: string, expected: Buffer): boolean {
  return header.split(" ").some((one) => {
    if (!one.startsWith("v1,")) return false;
    const given = Buffer.from(one.slice("v1,".length), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function readHeader(headers: Parameters<typeof verifyWebhook>[1], name: string): string | undefined {
  const value = headers instanceof Headers ? headers.get(name) : Object.hasOwn(headers, name) ? headers[name] : null;
  return typeof value === "string" && value !== "" && value.length <= MAX_HEADER_CHARACTERS ? value : undefined;
}

function readBody(body: string): VerifiedWebhook {
  try {
    const read = readMessage(webhookMessageSchema, parseJson(body));
    return read.valid ? { valid: true, message: read.value } : refuse("it is not a message that is known");
  } catch {
    return refuse("it is not JSON");
  }
}

function refuse(problem: string): VerifiedWebhook {
  return { valid: false, problem };
}
