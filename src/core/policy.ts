import { z } from "zod";
import { type Approvers, approversSchema, type Role, roleSchema } from "./approvers.ts";
import { countRegexes, globSchema, type PolicyCondition, patternSchema, policyConditionSchema } from "./condition.ts";
import { PolicyError } from "./errors.ts";
import { compileGlob } from "./glob.ts";
import { freezeJson, isJsonObject, type Json, JsonProblem } from "./json.ts";
import { parsePointer } from "./json-pointer.ts";
import { normalizeEmailText, RULE_ID } from "./names.ts";
import {
  closedObject,
  cutIssues,
  findSchemaIssues,
  namedValues,
  notEmpty,
  placedValues,
  type SchemaIssue,
  toIssue,
} from "./schema.ts";
import { pointerSchema } from "./sources/source.ts";
import { PatternError, type TextMatcher } from "./text-matcher.ts";
import { BLOCK_REASONS, type BlockReason, type RuleId } from "./verdict.ts";

/** An ordered list of rules: the first that matches a call decides, and a call that none matches is blocked. */
export interface Policy {
  readonly version: 1;
  readonly default: "block";
  /** Where in the results of which tools a value may stand and count as fixed, though an attacker may have written the rest. */
  readonly trust?: readonly TrustedPlace[];
  readonly rules: readonly PolicyRule[];
}

export interface TrustedPlace {
  /** A glob. */
  readonly tool: string;
  /** A JSON Pointer (RFC 6901) into the tool's structured results; `*` stands for every element of a list. */
  readonly path: string;
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
  /** Conditions for places in the arguments, by their JSON Pointer, in which `*` stands for every element of a list. */
  readonly at?: Readonly<Record<string, PolicyCondition>>;
  /**
   * The call carries one of these arguments (not null, not an empty list), and nothing in its plan step has fixed it: no
   * `eq`, no `in`, no value copied from the user's words or from a place that the policy trusts. A name that begins with `/`
   * is a JSON Pointer.
   */
  readonly unpinned?: readonly string[];
  readonly user?: {
    /** A glob; case does not matter. */
    readonly email?: string;
    readonly role?: Role;
    readonly group?: string;
  };
  readonly inPlan?: boolean;
}

/** The most bytes of a policy's text, the most rules, and the most regexes: one takes up to some 20 ms to compile. */
export const MAX_POLICY_BYTES = 1_048_576;
export const MAX_POLICY_RULES = 10_000;
export const MAX_POLICY_REGEXES = 1000;
const MAX_TRUSTED = 1000;

const text = z.string().min(1, "expected text").max(1000);
const emailGlob = patternSchema(compileEmailGlob);
const EMPTY = "give at least one field";
const targetSchema = text
  .refine((name) => !name.startsWith("/") || parsePointer(name), "expected a JSON Pointer after /")
  .refine((name) => !/^\/?\*(?:\/|$)/.test(name), "* stands for the elements of a list: name the argument");

const match: z.ZodType<Match> = notEmpty(
  closedObject({
    tool: z
      .union([globSchema, z.array(globSchema).min(1, "name at least one tool").max(1000)], {
        error: "expected a glob or a list of globs",
      })
      .optional(),
    args: notEmpty(namedValues(policyConditionSchema), EMPTY).optional(),
    at: notEmpty(placedValues(policyConditionSchema), EMPTY).optional(),
    unpinned: z.array(targetSchema).min(1, "name at least one argument").max(100).optional(),
    user: notEmpty(
      closedObject({ email: emailGlob.optional(), role: roleSchema.optional(), group: text.optional() }),
      EMPTY,
    ).optional(),
    inPlan: z.boolean().optional(),
  }) as z.ZodType<Match>,
  EMPTY,
);

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
    if (given[field] === undefined) continue;
    const message = "only a hold rule has this field";
    context.addIssue({ code: "custom", path: [field], message, params: { isKey: true } });
  }
}) as z.ZodType<PolicyRule>;

export const policySchema: z.ZodType<Policy> = closedObject({
  version: z.literal(1, "expected 1"),
  default: z.literal("block", "expected block: what no rule matches is always blocked"),
  trust: z
    .array(closedObject({ tool: globSchema, path: pointerSchema }))
    .max(MAX_TRUSTED)
    .optional(),
  rules: z.array(rule).max(MAX_POLICY_RULES).superRefine(refuseDuplicateIds, { when: isList }),
}) as z.ZodType<Policy>;

/** Also of rules that have other problems. */
function refuseDuplicateIds(rules: readonly unknown[], context: z.RefinementCtx): void {
  const seen = new Set<unknown>();
  for (const [index, given] of rules.entries()) {
    const id = isJsonObject(given) ? given["id"] : undefined;
    if (id === undefined) continue;
    if (seen.has(id))
      context.addIssue({ code: "custom", path: [index, "id"], message: `another rule has the id ${id}` });
    seen.add(id);
  }
}

function isList({ value }: { readonly value: unknown }): boolean {
  return Array.isArray(value);
}

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
  if (countPolicyRegexes(copy) > MAX_POLICY_REGEXES) {
    return {
      issues: [{ parts: ["rules"], isKey: true, message: `a policy has at most ${MAX_POLICY_REGEXES} regexes` }],
    };
  }
  const issues = findSchemaIssues(policySchema, copy);
  if (issues.length > 0) return { issues };
  const rules = (copy as unknown as Policy).rules.map((given) =>
    given.decision === "hold" && given.timeoutSeconds === undefined ? { ...given, timeoutSeconds: 300 } : given,
  );
  const { trust } = copy as unknown as Policy;
  return { policy: freezeJson({ version: 1, default: "block", ...(trust && { trust }), rules }) as unknown as Policy };
}

/** The policy in a value, which may be one already. @throws PolicyError */
export function assertPolicy(value: unknown): Policy {
  const { policy, issues } = checkPolicy(value);
  if (!policy) throw new PolicyError(cutIssues(issues.map(toIssue)));
  return policy;
}

/** The matcher of `user.email`: both sides are compared as {@link normalizeEmail} writes them. @throws PatternError */
export function compileEmailGlob(pattern: string): TextMatcher {
  const normal = normalizeEmailText(pattern);
  if (normal === undefined) throw new PatternError("a character of this glob only looks like an ASCII one");
  return compileGlob(normal);
}

function countPolicyRegexes(policy: Json): number {
  const rules = isJsonObject(policy) && Object.hasOwn(policy, "rules") ? policy["rules"] : [];
  if (!Array.isArray(rules)) return 0;
  const matches = rules.flatMap((given: Json) => (isJsonObject(given) ? [given["match"], given["except"]] : []));
  return matches.reduce(
    (sum: number, given) => sum + (isJsonObject(given) ? countRegexes(given["args"]) + countRegexes(given["at"]) : 0),
    0,
  );
}
