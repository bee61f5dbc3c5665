import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { PageFile } from "./read-page-files.ts";

/** What all browsers take; the better one first. */
const ENCODINGS = ["br", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Less is not worth it. */
const MIN_BYTES = 1000;

/** Known files, compressed when they are first asked for and kept: there are as many as were built. */
export class CompressedFiles {
  readonly #known = new Map<PageFile, Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>>();

  /** In the first encoding that `accept-encoding` names; as it is, if that names none. */
  async get(file: PageFile, accepted: string | null): Promise<{ bytes: Uint8Array<ArrayBuffer>; encoding?: Encoding }> {
    const encoding = file.isText && file.bytes.length >= MIN_BYTES ? chooseEncoding(accepted ?? "") : undefined;
    if (!encoding) return { bytes: file.bytes };
    const known = this.#known.get(file) ?? new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>();
    this.#known.set(file, known);
    const bytes = known.get(encoding) ?? compress(file.bytes, encoding);
    known.set(encoding, bytes);
    return { bytes: await bytes, encoding };
  }
}

function chooseEncoding(accepted: string): Encoding | undefined {
  const named = accepted.split(",").map((item) => item.trim().toLowerCase());
  return ENCODINGS.find((encoding) =>
    named.some((item) => item === encoding || (item.startsWith(`${encoding};`) && !/;\s*q=0(?:\.0*)?$/.test(item))),
  );
}

async function compress(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const made = encoding === "br" ? promisify(brotliCompress)(bytes, { params }) : promisify(gzip)(bytes, { level: 9 });
  return new Uint8Array(await made);
}
