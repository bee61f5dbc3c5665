/** What a tool may be called. `declare_plan` is reserved. */
export const TOOL_NAME: RegExp = /^[a-zA-Z0-9_-]{1,64}$/;

/** The tool with which a model declares its plan. No step may use it. */
export const DECLARE_PLAN = "declare_plan";

export function isToolName(value: unknown): value is string {
  return typeof value === "string" && TOOL_NAME.test(value);
}

/** What a rule's id looks like: kebab-case. */
export const RULE_ID: RegExp = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * An e-mail address as Intentlock compares and signs it: NFC, ASCII letters in lower case. Other letters keep their
 * case: folding them would make two addresses one (the Kelvin sign folds to `k`).
 *
 * @returns undefined for what is not one address: no single `@`, white space, control or invisible characters, one of the
 * three characters that NFC makes ASCII, or more than 254
 */
export function normalizeEmail(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > MAX_EMAIL || !value.isWellFormed()) return undefined;
  const email = normalizeEmailText(value);
  return email !== undefined && email.length <= MAX_EMAIL && EMAIL.test(email) ? email : undefined;
}

/** What {@link normalizeEmail} makes of an address or a part of one; undefined where NFC would make ASCII of it. */
export function normalizeEmailText(text: string): string | undefined {
  if (BECOMES_ASCII.test(text)) return undefined;
  return text.normalize("NFC").replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const MAX_EMAIL = 254;
// \p{C}: control, format and unassigned characters. \p{DI}: what is drawn as nothing, such as the Hangul fillers.
const EMAIL = /^[^@\s\p{C}\p{DI}]+@[^@\s\p{C}\p{DI}]+$/u;
/** The Greek question mark and varia, and the Kelvin sign: all that NFC turns into ASCII, here `;`, a backquote and `K`. */
const BECOMES_ASCII = /[\u037e\u1fef\u212a]/;
