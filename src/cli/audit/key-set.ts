import { keySetAnswerSchema } from "../../core/api/index.ts";
import type { PublicKey } from "../../core/index.ts";
import { publicKeySchema } from "../../core/signing-key.ts";
import { CliError, usageError } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { parsePrivateUrl } from "../parse-private-url.ts";
import { readTextFile } from "../read-text.ts";

const MAX_BYTES = 1_048_576;
const TIMEOUT_MS = 10_000;

/**
 * The public keys at a URL or in a file: a key set (RFC 7517), or one key.
 *
 * @throws CliError `ERR_KEY_SET` if they cannot be had, `ERR_USAGE` for a URL over which nobody can be trusted
 */
export async function loadKeySet(place: string, io: CliIo): Promise<readonly PublicKey[]> {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(place);
  const text = isUrl ? await fetchText(place, io) : await readTextFile(place, { io, maxBytes: MAX_BYTES });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CliError("ERR_KEY_SET", "--jwks: it is not JSON.", { cause });
  }
  const set = keySetAnswerSchema.safeParse(value);
  if (set.success) return set.data.keys;
  const one = publicKeySchema.safeParse(value);
  if (one.success) return [one.data];
  throw new CliError("ERR_KEY_SET", "--jwks: it is no set of Ed25519 public keys: expected { keys: [ … ] }.");
}

async function fetchText(place: string, { signal }: CliIo): Promise<string> {
  const url = parsePrivateUrl(place);
  if (!url) {
    throw usageError("--jwks: expected a file, or a URL that begins with https:// (http:// on this machine only)");
  }
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    // A redirect may lead to somebody else's keys.
    const answer = await fetch(url, {
      redirect: "error",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (!answer.ok) throw new Error(`it answers with status ${answer.status}`);
    return await readBody(answer);
  } catch (cause) {
    const { message, cause: inner } = cause as Error;
    const why = inner instanceof Error && inner.message !== "" ? inner.message : message;
    throw new CliError("ERR_KEY_SET", `--jwks: ${url.origin} does not give its keys: ${why}.`, { cause });
  }
}

async function readBody(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
