import { z } from "zod";
import { type Budget, budgetSchema } from "./budget.ts";
import { digestSchema, emailSchema, idSchema, secondsSchema } from "./fields.ts";
import { type Plan, planSchema } from "./plan.ts";
import { type Policy, policySchema } from "./policy.ts";
import { closedObject, namedValues } from "./schema.ts";
import { claimsBytes } from "./signed-token.ts";
import { boundKeySchema, type PublicKey } from "./signing-key.ts";

/** The person an agent acts for, as known when the token was signed. */
export interface User {
  readonly email: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
}

/** What a plan token says. Times are in seconds since the epoch. */
export interface PlanClaims {
  readonly ver: 1;
  readonly iss: string;
  /** The agent's immutable id. */
  readonly aud: string;
  /** The user's e-mail address. */
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
  /** Of this token: a refresh makes a new one. */
  readonly jti: string;
  /** Of the plan: a refresh keeps it. */
  readonly planId: string;
  readonly plan: Plan;
  readonly user: User;
  /** The whole policy, so that a decision can be recomputed from the token alone. */
  readonly policy: Policy;
  /** By name, the fingerprint of each tool's description and input schema. A tool that changed is blocked. */
  readonly tools?: Readonly<Record<string, string>>;
  /** Digest of what the user asked for. */
  readonly task?: string;
  readonly budget?: Budget;
  /** The key with which the client signs its audit records (RFC 7800). */
  readonly cnf?: { readonly jwk: PublicKey };
}

/** The longest token that is read, in characters: the largest policy and plan, in base64. */
export const MAX_TOKEN_CHARACTERS = 4_194_304;

const words = z.array(z.string().min(1).max(254)).max(1000);

const userSchema: z.ZodType<User> = closedObject({ email: emailSchema, roles: words, groups: words });

export const planClaimsSchema: z.ZodType<PlanClaims> = closedObject({
  ver: z.literal(1),
  iss: idSchema,
  aud: idSchema,
  sub: emailSchema,
  iat: secondsSchema,
  exp: secondsSchema,
  jti: idSchema,
  planId: idSchema,
  plan: planSchema,
  user: userSchema,
  policy: policySchema,
  tools: namedValues(digestSchema).optional(),
  task: digestSchema.optional(),
  budget: budgetSchema.optional(),
  cnf: closedObject({ jwk: boundKeySchema }).optional(),
}) as z.ZodType<PlanClaims>;

/** What fits into such a token beside the header and the signature. */
export const MAX_CLAIMS_BYTES: number = claimsBytes(MAX_TOKEN_CHARACTERS);
