import type { IncomingMessage } from "node:http";
import { type Json, parseJson } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";

/**
 * Reads a body as strict JSON, no more of it than may be: bytes are counted as they come, whatever `content-length` says.
 *
 * @param incoming the request as Node.js has it, if it came that way: a third of the work of a web stream
 * @returns undefined if there is none
 * @throws ProblemError `payload_too_large`, `unsupported_media_type`, `invalid_request` for what is no strict JSON
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  incoming?: IncomingMessage | undefined,
): Promise<Json | undefined> {
  const { headers } = request;
  // What is small on the way and large when it is unpacked.
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") throw new ProblemError("unsupported_media_type");
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const bytes = incoming ? await readIncoming(incoming, maxBytes) : await readStream(request.body, maxBytes);
  if (bytes.length === 0) return undefined;
  if (!isJsonType(headers.get("content-type"))) throw new ProblemError("unsupported_media_type");
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // Not the parser's words: paths of keys are the client's.
    throw new ProblemError("invalid_request", { detail: "the body is not strict JSON, without duplicate keys" });
  }
}

async function readStream(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const bytes = new BoundedBytes(maxBytes);
  const reader = body?.getReader();
  for (;;) {
    const next = await reader?.read();
    if (!next || next.done) return bytes.join();
    try {
      bytes.add(next.value);
    } catch (error) {
      await reader?.cancel().catch(() => {});
      throw error;
    }
  }
}

function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const bytes = new BoundedBytes(maxBytes);
  return new Promise((resolve, reject) => {
    const onGone = (): void => reject(new ProblemError("invalid_request", { detail: "the body has no end" }));
    // While its key was looked up: nothing will be heard of it any more.
    if (incoming.destroyed && !incoming.readableEnded) return onGone();
    const onData = (chunk: Uint8Array): void => {
      try {
        bytes.add(chunk);
      } catch (error) {
        incoming.off("data", onData).pause();
        reject(error);
      }
    };
    incoming.on("data", onData);
    incoming.once("end", () => {
      incoming.off("close", onGone);
      resolve(bytes.join());
    });
    incoming.once("error", onGone);
    // Before its end: whoever sent it is gone.
    incoming.once("close", onGone);
  });
}

/** Bytes in the order in which they came, and no more than may be. */
class BoundedBytes {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws ProblemError `payload_too_large` */
  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    this.#chunks.push(chunk);
  }

  join(): Uint8Array {
    const [first] = this.#chunks;
    return first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#length);
  }
}

/** `application/json`, in UTF-8. A page of another origin can send other types without being asked. */
function isJsonType(type: string | null): boolean {
  return type !== null && /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type.trim());
}

function tooLarge(maxBytes: number): ProblemError {
  return new ProblemError("payload_too_large", { detail: `this endpoint takes at most ${maxBytes} bytes` });
}
