import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 32 random bytes in base64url, after a prefix that says what it is: 43 characters that nobody guesses. */
export function createSecret(prefix = ""): string {
  return prefix + randomBytes(32).toString("base64url");
}

/** What is stored instead of a secret. It has no salt: there is nothing to guess in 32 random bytes, and it is looked up. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares in a time that says nothing about where the two differ, or how long the expected one is. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
