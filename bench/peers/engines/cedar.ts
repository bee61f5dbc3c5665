import type { Json, JsonObject, PolicyCondition, PolicyRule } from "intentlock/core";
import { conditionsOf, type Engine, loadPeer, type PeerCall, toolOf, Unsupported } from "../engine.ts";

interface Cedar {
  preparsePolicySet(
    id: string,
    policies: { staticPolicies: Record<string, string> },
  ): { readonly type: "success" } | { readonly type: "failure"; readonly errors: readonly unknown[] };
  statefulIsAuthorized(
    call: unknown,
  ):
    | { readonly type: "success"; readonly response: { readonly diagnostics: { readonly reason: readonly string[] } } }
    | { readonly type: "failure"; readonly errors: readonly unknown[] };
}

let sets = 0;

/**
 * A policy set parsed once. Cedar has no order: each rule is a permit, whatever it decides, and the first of those that
 * apply is looked up outside.
 */
export const cedar: Engine = {
  name: "Cedar (cedar-wasm)",
  async compile(rules) {
    const { preparsePolicySet, statefulIsAuthorized } = loadPeer<Cedar>("@cedar-policy/cedar-wasm/nodejs");
    const preparsedPolicySetId = `policies-${sets++}`;
    const staticPolicies = Object.fromEntries(rules.map((rule, index) => [String(index), toPermit(rule)]));
    const parsed = preparsePolicySet(preparsedPolicySetId, { staticPolicies });
    if (parsed.type === "failure") throw new Error(`Cedar does not parse it: ${JSON.stringify(parsed.errors)}`);
    return {
      request: ({ tool, args, user }: PeerCall) => ({
        principal: { type: "User", id: user.email },
        action: { type: "Action", id: tool },
        resource: { type: "Agent", id: "bench" },
        context: { tool, args: assertSpeakable(args), roles: user.roles },
        entities: [],
        preparsedPolicySetId,
        validateRequest: false,
      }),
      decide(request: unknown) {
        const answer = statefulIsAuthorized(request);
        if (answer.type === "failure") throw new Error(`Cedar fails: ${JSON.stringify(answer.errors)}`);
        const { reason } = answer.response.diagnostics;
        return reason.length === 0 ? undefined : rules[Math.min(...reason.map(Number))]?.id;
      },
    };
  },
};

function toPermit(rule: PolicyRule): string {
  const tool = toolOf(rule);
  const role = rule.match.user?.role;
  const when = [
    ...("prefix" in tool ? [`context.tool like ${quote(`${tool.prefix}*`)}`] : []),
    ...conditionsOf(rule).flatMap(([name, condition]) => toTests(name, condition)),
    ...(role === undefined ? [] : [`context.roles.contains(${quote(role)})`]),
  ];
  const action = "exact" in tool ? `action == Action::${quote(tool.exact)}` : "action";
  return `permit(principal, ${action}, resource)${when.length > 0 ? ` when { ${when.join(" && ")} }` : ""};`;
}

/** A test that meets a value of another type is an error, and its permit does not apply. */
function toTests(name: string, condition: PolicyCondition): string[] {
  const has = `context.args has ${quote(name)}`;
  const value = `context.args[${quote(name)}]`;
  const list = (values: readonly Json[]) => `[${values.map(quote).join(", ")}]`;
  return Object.entries(condition).map(([operator, wanted]) => {
    switch (operator) {
      case "eq":
        return `${has} && ${value} == ${quote(wanted)}`;
      case "in":
        return `${has} && ${list(wanted as Json[])}.contains(${value})`;
      case "notIn":
        return `!(${has} && ${list(wanted as Json[])}.contains(${value}))`;
      case "glob":
        return `${has} && ${toLike(value, String(wanted))}`;
      case "lte":
      case "gte":
        if (!Number.isSafeInteger(wanted)) throw new Unsupported("fractions");
        return `${has} && ${value} ${operator === "lte" ? "<=" : ">="} ${wanted}`;
      case "regex":
        throw new Unsupported("regular expressions");
      default:
        throw new Unsupported(`${operator} of a value that may be no text`);
    }
  });
}

/** The star of `like` crosses slashes; ours does not, and alone between slashes it stands for something. */
function toLike(value: string, glob: string): string {
  const prefix = glob.slice(0, -1);
  const never = prefix.endsWith("/") ? ["", ".", ".."].map((end) => quote(`${prefix}${end}`)) : [];
  const tests = [`${value} like ${quote(glob)}`, `!(${value} like ${quote(`${glob}/*`)})`];
  if (never.length > 0) tests.push(`![${never.join(", ")}].contains(${value})`);
  return tests.join(" && ");
}

function quote(value: Json | undefined): string {
  return JSON.stringify(value);
}

function assertSpeakable(args: JsonObject): JsonObject {
  JSON.stringify(args, (_key, value) => {
    if (value === null) throw new Unsupported("null among the arguments");
    if (typeof value === "number" && !Number.isSafeInteger(value))
      throw new Unsupported("fractions among the arguments");
    return value;
  });
  return args;
}
