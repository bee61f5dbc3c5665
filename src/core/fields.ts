import { z } from "zod";
import { normalizeEmail, RULE_ID, TOOL_NAME } from "./names.ts";
import { MAX_CALL_ID_CHARACTERS } from "./verdict.ts";

/** The id of something, as its maker chose it. */
export const idSchema: z.ZodType<string> = z.string().min(1).max(200);

/** Seconds since the epoch. */
export const secondsSchema: z.ZodType<number> = z.int().min(0);

/** What {@link digest} gives. */
export const digestSchema: z.ZodType<string> = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "expected sha256: and 64 hexadecimal digits");

/** An e-mail address, written in whatever way. */
export const emailSchema: z.ZodType<string> = z
  .string()
  .refine((value) => normalizeEmail(value) !== undefined, "expected an e-mail address");

/** An e-mail address in the one form in which Intentlock compares and signs it. */
export const normalEmailSchema: z.ZodType<string> = z
  .string()
  .refine((value) => normalizeEmail(value) === value, "expected an e-mail address as normalizeEmail() writes it");

export const toolNameSchema: z.ZodType<string> = z
  .string()
  .regex(TOOL_NAME, "a tool's name is 1 to 64 letters, digits, _ or -");

export const ruleIdSchema: z.ZodType<string> = z
  .string()
  .max(64)
  .regex(RULE_ID, "an id is kebab-case, like only-public-repo");

/** A tool's fingerprint as a call brings it: any short text. */
export const fingerprintSchema: z.ZodType<string> = z.string().max(MAX_CALL_ID_CHARACTERS);

/** A number in a row, or a count, from 0. */
export const countSchema: z.ZodType<number> = z.int().min(0);
