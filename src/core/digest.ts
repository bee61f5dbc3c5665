import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical-json.ts";

/** Hashes the UTF-8 bytes of a text with SHA-256 and gives lower-case hexadecimal. */
export type Sha256 = (text: string) => string;

/** What a digest is of. It is part of what is hashed, so that a digest of one kind never passes for one of another. */
export type DigestDomain = "json" | "call" | "tool" | "task" | "audit";

/** The default hash: pure JavaScript, so that core runs on every runtime. Gates on Node use `node:crypto`. */
export const portableSha256: Sha256 = (text) => bytesToHex(sha256(utf8ToBytes(text)));

/**
 * `sha256:` and 64 hexadecimal digits: SHA-256 over `intentlock/DOMAIN/v1`, a line feed and the canonical JSON of the
 * value (RFC 8785). The order of keys does not matter.
 *
 * @throws IntentlockError `ERR_INVALID_JSON` as {@link canonicalJson} does
 */
export function digest(value: unknown, domain: DigestDomain = "json", hash: Sha256 = portableSha256): string {
  return digestText(canonicalJson(value), domain, hash);
}

/** {@link digest} of a value whose canonical JSON this is. */
export function digestText(text: string, domain: DigestDomain, hash: Sha256 = portableSha256): string {
  return `sha256:${hash(`intentlock/${domain}/v1\n${text}`)}`;
}
