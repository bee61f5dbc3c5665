import { createPrivateKey, sign } from "node:crypto";
import type { SigningKey } from "../src/core/index.ts";
import { KEY } from "./builders.ts";

/** A part of a token: text as it is, anything else as JSON, in base64url. */
export function encode(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
}

/** A token with any header and payload, with a signature that is right for it. */
export function forge(header: unknown, payload: unknown, key: SigningKey = KEY): string {
  return seal(`${encode(header)}.${encode(payload)}`, key);
}

/** Any text with a signature that is right for it, as the last part of a token. */
export function seal(text: string, key: SigningKey = KEY): string {
  const { kid: _, ...jwk } = key.privateKey;
  return `${text}.${sign(null, Buffer.from(text), createPrivateKey({ key: jwk, format: "jwk" })).toString("base64url")}`;
}
