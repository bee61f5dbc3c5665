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
 * @returns undefined for what is not one address: no single `@`, white space, control or invisible characters, or more than 254
 */
export function normalizeEmail(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 254 || !value.isWellFormed()) return undefined;
  const email = value.normalize("NFC").replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u.test(email) ? email : undefined;
}
