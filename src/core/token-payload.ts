import { isJsonObject, type JsonObject } from "./json.ts";
import { parseJson } from "./parse-json.ts";

/**
 * What the text of a token says, without a look at its signature: for those who have it from whoever signed it, and need to
 * know whose it is before they can verify it.
 *
 * @returns undefined for what is no token
 */
export function readTokenPayload(token: string): JsonObject | undefined {
  try {
    const [, payload = ""] = token.split(".");
    const text = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const claims = parseJson(new TextDecoder().decode(bytes));
    return isJsonObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}
