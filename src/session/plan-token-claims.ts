import { normalizeEmail } from "../core/index.ts";
import { readTokenPayload } from "../core/token-payload.ts";

/** What a session needs to know of the plan token that its gate gave it, and answers for: nothing is verified here. */
export interface TokenClaims {
  /** The user's e-mail; undefined if the token does not say. */
  readonly user: string | undefined;
  /** The fingerprints that were signed, by the tools' names. */
  readonly tools: Readonly<Record<string, string>>;
}

export function readTokenClaims(token: string): TokenClaims {
  const { sub, tools } = readTokenPayload(token) ?? {};
  const prints = typeof tools === "object" && tools !== null ? Object.entries(tools) : [];
  const texts = prints.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { user: normalizeEmail(sub), tools: Object.fromEntries(texts) };
}
