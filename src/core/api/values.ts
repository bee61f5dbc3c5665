import { z } from "zod";
import type { BudgetLimit, Spent } from "../budget.ts";
import { countSchema, digestSchema } from "../fields.ts";
import { copyJson, type Json, MAX_ARGS_BYTES } from "../json.ts";
import { normalizeEmail } from "../names.ts";
import { closedObject } from "../schema.ts";

// Numbers that travel say their unit in their name or here: `expiresAt` and `now` are seconds since the epoch, as in
// tokens; every other moment (`serverTime`, `leaseUntil`, `createdAt`, `receivedAt`, `at`) is in milliseconds.

/** An id that the server made. It goes into paths, so it is of letters that mean nothing there. */
export const serverIdSchema: z.ZodType<string> = z.string().regex(/^[\w-]{1,200}$/, "expected an id");

/** Milliseconds since the epoch. */
export const momentSchema: z.ZodType<number> = z.int().min(0);

/** A person in a request, by e-mail in whatever way it is written. The schema gives it as `normalizeEmail()` does. */
export const personSchema: z.ZodType<string> = z
  .string()
  .transform((text, context) => {
    const email = normalizeEmail(text);
    if (email !== undefined) return email;
    context.addIssue({ code: "custom", message: "expected an e-mail address" });
    return z.NEVER;
  })
  .meta({ type: "string", format: "email", maxLength: 254 });

/** Any JSON value within the bounds of a call's arguments. */
export const argsSchema: z.ZodType<Json> = z
  .custom<Json>((value) => {
    try {
      copyJson(value, MAX_ARGS_BYTES);
      return true;
    } catch {
      return false;
    }
  }, `expected JSON of at most ${MAX_ARGS_BYTES} bytes`)
  .meta({ description: `Any JSON of at most ${MAX_ARGS_BYTES} bytes: the arguments of a call.` });

/** What a person wrote for others to read. */
export const commentSchema: z.ZodType<string> = z.string().max(2000);

/** What something is called, for people. */
export const titleSchema: z.ZodType<string> = z
  .string()
  .max(100)
  .regex(/^[^\p{C}\p{DI}]+$/u, "expected a name without control characters")
  .meta({ pattern: "^.+$" });

/** The end of a chain: the digest of its last entry; null if it has none. */
export const headSchema: z.ZodType<string | null> = digestSchema.nullable();

export const spentSchema: z.ZodType<Spent> = z.object({ calls: countSchema, payoutMicros: countSchema });

export const limitSchema: z.ZodType<BudgetLimit> = z.object({
  calls: countSchema.exactOptional(),
  payoutMicros: countSchema.exactOptional(),
});

/** A whole number in a query, which is text there. */
export function queryNumber(least: number, most: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/, "expected a whole number")
    .transform(Number)
    .refine((value) => value >= least && value <= most, `expected ${least} to ${most}`)
    .meta({ type: "integer", minimum: least, maximum: most });
}

/** Milliseconds since the epoch in a query. */
export const queryMoment: z.ZodType<number> = queryNumber(0, 253_402_300_799_999);

/** Which part of a long list is wanted. */
export interface ListQuery {
  /** The most that are wanted: 1 to 1000, 100 unless told. */
  readonly limit?: number;
  /** The `next` of the part before. */
  readonly after?: string;
}

/** The fields of {@link listQuerySchema}, for queries that have more. */
export const listQuery: {
  readonly limit: z.ZodExactOptional<z.ZodType<number>>;
  readonly after: z.ZodExactOptional<z.ZodType<string>>;
} = {
  limit: queryNumber(1, 1000).exactOptional(),
  after: (z.string().min(1).max(500) as z.ZodType<string>).exactOptional(),
};

export const listQuerySchema: z.ZodType<ListQuery> = closedObject(listQuery);
