import { type Json, parseJson } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";

/**
 * Reads a body as strict JSON, no more of it than may be: bytes are counted as they come, whatever `content-length` says.
 *
 * @returns undefined if there is none
 * @throws ProblemError `payload_too_large`, `unsupported_media_type`, `invalid_request` for what is no strict JSON
 */
export async function readBody(request: Request, maxBytes: number): Promise<Json | undefined> {
  const { headers, body } = request;
  // What is small on the way and large when it is unpacked.
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") throw new ProblemError("unsupported_media_type");
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const bytes = body ? await readBytes(body, maxBytes) : EMPTY;
  if (bytes.length === 0) return undefined;
  if (!isJsonType(headers.get("content-type"))) throw new ProblemError("unsupported_media_type");
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // Not the parser's words: paths of keys are the client's.
    throw new ProblemError("invalid_request", { detail: "the body is not strict JSON, without duplicate keys" });
  }
}

const EMPTY = new Uint8Array();

async function readBytes(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, length);
}

/** `application/json`, in UTF-8. A page of another origin can send other types without being asked. */
function isJsonType(type: string | null): boolean {
  return type !== null && /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type.trim());
}

function tooLarge(maxBytes: number): ProblemError {
  return new ProblemError("payload_too_large", { detail: `this endpoint takes at most ${maxBytes} bytes` });
}
