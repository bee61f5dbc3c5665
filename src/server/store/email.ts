import { IntentlockError, normalizeEmail } from "../../core/index.ts";

/** The address as it is compared and stored. @throws IntentlockError `ERR_INVALID_OPTIONS` if it is none */
export function checkEmail(value: string): string {
  const email = normalizeEmail(value);
  if (email === undefined) throw new IntentlockError("ERR_INVALID_OPTIONS", "Expected an e-mail address");
  return email;
}
