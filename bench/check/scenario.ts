import {
  type Call,
  generateSigningKey,
  type OpenedToken,
  openPlanToken,
  type Plan,
  type PlanClaims,
  type Policy,
  parsePlan,
  parsePolicy,
  type SigningKey,
  signPlanToken,
} from "intentlock/core";

// For bench/peers, which is a package of its own and does not find this one by its name.
export { check } from "intentlock/core";

/** A rule in the few words that both `check()` and the floor understand. */
export interface SimpleRule {
  readonly id: string;
  /** An exact name, or one with a star at its end. */
  readonly tool: string;
  /** A string that the argument `repo` has to be, or to start with if it ends in a star. */
  readonly repo?: string;
}

export interface SimpleStep {
  readonly tool: string;
  readonly repo: string;
}

/** What the calls of a scenario differ in. */
export interface SimpleCall extends SimpleStep {
  /** The name of one more argument: each such name is another shape of object for the engine. */
  readonly field?: string;
  /** The argument `repo` alone, instead of about 200 bytes. */
  readonly isShort?: boolean;
}

/** A plan and a policy, and calls to decide under them. */
export interface Scenario {
  readonly steps: readonly SimpleStep[];
  readonly rules: readonly SimpleRule[];
  readonly call: (n: number) => SimpleCall;
}

export const NOW = 1_800_000_000;
export const AUDIENCE = "bench";
const REPO = "acme/public-app";
const TOOL = "github_post_comment";
/** How many kinds of arguments the tools have, where each call names another tool. */
const SHAPES = 24;

/** Rules for other tools, half of them exact names and half globs, and the one for {@link TOOL} where `match` says. */
export function manyRules(count: number, match: "first" | "last" | "none"): SimpleRule[] {
  const rules = Array.from({ length: count }, (_, index): SimpleRule => {
    const tool = index % 2 === 0 ? `service-${index}_read` : `service-${index}_*`;
    return { id: `rule-${index}`, tool, repo: REPO };
  });
  if (match !== "none") {
    const place = match === "first" ? 0 : count - 1;
    rules[place] = { id: `rule-${place}`, tool: "github_*", repo: REPO };
  }
  return rules;
}

/** The call uses the last of the plan's steps; the others name other tools. */
export function oneTool(rules: readonly SimpleRule[], stepCount: number): Scenario {
  const steps = Array.from({ length: stepCount }, (_, index) => ({
    tool: index === stepCount - 1 ? TOOL : `service-${index}_read`,
    repo: REPO,
  }));
  const call = { tool: TOOL, repo: REPO };
  return { rules, steps, call: () => call };
}

/** 200 steps of 200 tools under 1000 rules, of which every fifth is about one of them; each call names the next tool. */
export function everyCallAnotherTool(): Scenario {
  const steps = Array.from({ length: 200 }, (_, index) => ({ tool: `github_do_${index}`, repo: REPO }));
  const rules = manyRules(1000, "none").map((rule, index) => {
    const { tool = "" } = steps[index / 5] ?? {};
    return tool ? { ...rule, tool: index % 2 === 0 ? tool : `${tool}*` } : rule;
  });
  const calls = steps.map((step, index): SimpleCall => ({ ...step, field: `field_${index % SHAPES}` }));
  return { steps, rules, call: (n) => calls[n % calls.length] as SimpleCall };
}

/** Each call names a tool that has never been seen and is not in the plan. */
export function everNewNames(): Scenario {
  return { ...everyCallAnotherTool(), call: (n) => ({ tool: `evil_tool_${n}`, repo: REPO }) };
}

/** 1000 rules that all name the tool and differ by a glob of one argument; the last one matches. */
export function rulesOfOneTool(): Scenario {
  const rules = Array.from({ length: 1000 }, (_, index) => ({
    id: `rule-${index}`,
    tool: TOOL,
    repo: `acme/app-${index}-*`,
  }));
  const step = { tool: TOOL, repo: "acme/app-999-web" };
  return { rules, steps: [step], call: () => step };
}

export function toPolicy(rules: readonly SimpleRule[]): Policy {
  const policy = {
    version: 1,
    default: "block",
    rules: rules.map(({ id, tool, repo }) => ({
      id,
      match: {
        tool,
        ...(repo !== undefined && { args: { repo: repo.endsWith("*") ? { glob: repo } : { eq: repo } } }),
      },
      decision: "allow",
    })),
  };
  return parsePolicy(JSON.stringify(policy));
}

export function toPlan(steps: readonly SimpleStep[]): Plan {
  const plan = {
    goal: "Answer the open issues",
    steps: steps.map(({ tool, repo }) => ({ tool, args: { repo: { eq: repo } }, maxCalls: 1_000_000 })),
  };
  return parsePlan(plan, { tools: steps.map(({ tool }) => tool) });
}

/** The same scenario with calls of one argument. */
export function shortCalls(scenario: Scenario): Scenario {
  return { ...scenario, call: (n) => ({ ...scenario.call(n), isShort: true }) };
}

/** The JSON text of small arguments, about 200 bytes. */
export function argsText({ repo, field, isShort }: SimpleCall): string {
  if (isShort) return JSON.stringify({ repo });
  const body =
    "Thanks for the report. This is fixed on main and goes out with the next release, which is due this week.";
  return JSON.stringify({ ...(field && { [field]: true }), repo, issue: 4217, body, labels: ["bug", "fixed"] });
}

/** The nth call, with arguments that nobody has seen: parsed from JSON text, as those of a model are. */
export function newCall({ call }: Scenario, n: number): Call {
  const next = call(n);
  return { callId: `call_${n}`, tool: next.tool, args: JSON.parse(argsText(next)) as unknown };
}

export const KEY: SigningKey = await generateSigningKey();
let tokens = 0;

/** Gives the function that signs a scenario's plan and policy: each time a token that has not been seen before. */
export function tokenSigner({ steps, rules }: Pick<Scenario, "steps" | "rules">): () => Promise<string> {
  const email = "dana@acme.example";
  const claims: Omit<PlanClaims, "ver" | "jti"> = {
    iss: AUDIENCE,
    aud: AUDIENCE,
    sub: email,
    iat: NOW,
    exp: NOW + 900,
    planId: "plan-1",
    plan: toPlan(steps),
    user: { email, roles: ["member"], groups: [] },
    policy: toPolicy(rules),
  };
  return async () => await signPlanToken({ jti: `id-${++tokens}`, ...claims }, KEY);
}

export async function openToken(token: string): Promise<OpenedToken> {
  return await openPlanToken(token, [KEY.publicKey], { audience: AUDIENCE });
}
