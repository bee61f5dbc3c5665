import { z } from "zod";
import { globSchema, type PolicyCondition, policyConditionSchema } from "./condition.ts";
import { PolicyError } from "./errors.ts";
import { freezeJson, type Json, JsonProblem } from "./json.ts";
import { RULE_ID } from "./names.ts";
import { closedObject, listSchemaIssues, namedValues, type SchemaIssue, toIssue } from "./schema.ts";
import { BLOCK_REASONS, type BlockReason, type RuleId } from "./verdict.ts";

/** What people may be on the server. */
export type Role = "admin" | "approver" | "member";

/** An ordered list of rules: the first that matches a call decides, and a call that none matches is blocked. */
export interface Policy {
  readonly version: 1;
  readonly default: "block";
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  /** Kebab-case, unique in the policy. */
  readonly id: RuleId;
  readonly match: Match;
  /** A call that matches this too is not the rule's. */
  readonly except?: Match;
  readonly decision: "allow" | "block" | "hold";
  /** Told to the model when the rule blocks, to the approver when it holds. */
  readonly reason?: string;
  /** Of `hold` rules only, which always have it. */
  readonly approvers?: Approvers;
  /** Of `hold` rules only, which always have it: 1 to 86,400. */
  readonly timeoutSeconds?: number;
}

/** All given must match; at least one is given. */
export interface Match {
  /** A glob, or several of which one must match the tool's name. */
  readonly tool?: string | readonly string[];
  readonly args?: Readonly<Record<string, PolicyCondition>>;
  readonly user?: {
    /** A glob; case does not matter. */
    readonly email?: string;
    readonly role?: Role;
    readonly group?: string;
  };
  readonly inPlan?: boolean;
}

/** Who may approve: people with one of the roles, people named by e-mail, and with `self` the person the agent acts for. */
export interface Approvers {
  readonly roles?: readonly Role[];
  readonly emails?: readonly string[];
  readonly self?: boolean;
}

/** The most bytes of a policy's text, and the most rules. */
export const MAX_POLICY_BYTES = 1_048_576;
export const MAX_POLICY_RULES = 10_000;

const role = z.enum(["admin", "approver", "member"]);
const text = z.string().min(1, "expected text").max(1000);

export const approversSchema: z.ZodType<Approvers> = closedObject({
  roles: z.array(role).max(10).optional(),
  emails: z.array(z.email("expected an e-mail address").max(254)).max(1000).optional(),
  self: z.boolean().optional(),
}).refine((who) => who.roles?.length || who.emails?.length || who.self, {
  error: "name at least one approver: roles, emails or self: true",
}) as z.ZodType<Approvers>;

const match: z.ZodType<Match> = notEmpty(
  closedObject({
    tool: z.union([globSchema, z.array(globSchema).min(1, "name at least one tool").max(1000)]).optional(),
    args: notEmpty(namedValues(policyConditionSchema)).optional(),
    user: notEmpty(
      closedObject({ email: globSchema.optional(), role: role.optional(), group: text.optional() }),
    ).optional(),
    inPlan: z.boolean().optional(),
  }),
) as z.ZodType<Match>;

const rule: z.ZodType<PolicyRule> = closedObject({
  id: z
    .string()
    .max(64)
    .regex(RULE_ID, "an id is kebab-case, like only-public-repo")
    .refine((id) => !BLOCK_REASONS.includes(id as BlockReason), "this id is a reason that Intentlock itself gives"),
  match,
  except: match.optional(),
  decision: z.enum(["allow", "block", "hold"]),
  reason: text.optional(),
  approvers: approversSchema.optional(),
  timeoutSeconds: z.int().min(1).max(86_400).optional(),
}).superRefine((given, context) => {
  if (given.decision === "hold") {
    if (given.approvers === undefined) {
      context.addIssue({ code: "custom", path: ["approvers"], message: "a hold rule has to name its approvers" });
    }
    return;
  }
  for (const field of ["approvers", "timeoutSeconds"] as const) {
    if (given[field] !== undefined) {
      context.addIssue({
        code: "custom",
        path: [field],
        message: "only a hold rule has this field",
        params: { isKey: true },
      });
    }
  }
}) as z.ZodType<PolicyRule>;

export const policySchema: z.ZodType<Policy> = closedObject({
  version: z.literal(1, "expected 1"),
  default: z.literal("block", "expected block: what no rule matches is always blocked"),
  rules: z
    .array(rule)
    .max(MAX_POLICY_RULES)
    .superRefine((rules, context) => {
      const seen = new Set<string>();
      for (const [index, { id }] of rules.entries()) {
        if (seen.has(id))
          context.addIssue({ code: "custom", path: [index, "id"], message: `another rule has the id ${id}` });
        seen.add(id);
      }
    }),
}) as z.ZodType<Policy>;

/** A checked value of a policy's shape, or what is wrong with it. */
export type CheckedPolicy =
  | { readonly policy: Policy; readonly issues?: undefined }
  | { readonly policy?: undefined; readonly issues: readonly SchemaIssue[] };

/** Checks what may be a policy, fills in the default of `timeoutSeconds`, and freezes it. */
export function checkPolicy(value: unknown): CheckedPolicy {
  let copy: Json;
  try {
    copy = freezeJson(value);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    return { issues: [{ parts: error.parts, isKey: false, message: error.message }] };
  }
  const result = policySchema.safeParse(copy);
  if (!result.success) return { issues: listSchemaIssues(result.error) };
  const rules = (copy as unknown as Policy).rules.map((given) =>
    given.decision === "hold" && given.timeoutSeconds === undefined ? { ...given, timeoutSeconds: 300 } : given,
  );
  return { policy: freezeJson({ version: 1, default: "block", rules }) as unknown as Policy };
}

/** The policy in a value, which may be one already. @throws PolicyError */
export function assertPolicy(value: unknown): Policy {
  const { policy, issues } = checkPolicy(value);
  if (!policy) throw new PolicyError(issues.map(toIssue));
  return policy;
}

function notEmpty<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return schema.refine((fields) => Object.keys(fields as object).length > 0, "give at least one field");
}
