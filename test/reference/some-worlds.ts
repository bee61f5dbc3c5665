import fc from "fast-check";
import type { Json, Match, PlanStep, PolicyRule, User } from "../../src/core/index.ts";
import { parsePlan } from "../../src/core/index.ts";
import { assertPolicy } from "../../src/core/policy.ts";
import { fitArgs } from "./near-calls.ts";
import { aCondition, aPlace, aPointer, named } from "./some-conditions.ts";
import { aName, aPool, aText, aValue } from "./some-values.ts";
import type { Asked, World } from "./world.ts";

const TOOLS = ["send", "send_money", "send_mail", "read", "constructor", "__proto__"];
const TOOL_GLOBS = [
  "send",
  "send*",
  "send_*",
  "*",
  "**",
  "?end",
  "s*y",
  "{send,read}",
  "send_{money,mail}",
  "[rs]*",
  "__*",
];

function aStep(pool: readonly Json[]): fc.Arbitrary<PlanStep> {
  const condition = aCondition(pool, true);
  const tool = fc.oneof({ weight: 4, arbitrary: fc.constantFrom("send", "send_money") }, fc.constantFrom(...TOOLS));
  const nothing = { weight: 2, arbitrary: fc.constant({}) };
  return fc
    .tuple(
      fc.record({ tool }),
      fc.oneof(nothing, { weight: 4, arbitrary: fc.record({ args: named(aName, condition, 1) }) }),
      fc.oneof(nothing, fc.record({ at: named(aPointer, condition, 1) })),
      fc.oneof(nothing, fc.constant({ otherArgs: "block" as const })),
      fc.oneof(nothing, fc.record({ maxCalls: fc.integer({ min: 1, max: 2 }) })),
    )
    .map((parts) => Object.assign({}, ...parts) as PlanStep);
}

function aMatch(pool: readonly Json[]): fc.Arbitrary<Match> {
  const condition = aCondition(pool, false);
  const glob = fc.constantFrom(...TOOL_GLOBS, ...TOOLS);
  const role = fc.constantFrom("admin", "approver", "member");
  const email = fc.constantFrom("*@acme.dev", "*@ACME.*", "bob@acme.dev", "?ob@*");
  const user = fc.oneof(
    fc.record({ email }),
    fc.record({ role }),
    fc.record({ group: fc.constantFrom("intern", "Intern", "finance") }),
    fc.record({ email, role }),
  );
  const fields = {
    tool: fc.oneof(glob, fc.array(glob, { minLength: 1, maxLength: 2 })),
    args: fc.oneof(named(aName, condition, 1), {
      weight: 2,
      arbitrary: fc.record({ to: condition }, { noNullPrototype: true }),
    }),
    at: named(aPointer, condition, 1),
    unpinned: fc.array(
      fc.oneof(
        aName.filter((name) => name !== ""),
        aPointer,
      ),
      { minLength: 1, maxLength: 2 },
    ),
    user,
    inPlan: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  };
  const one = fc.oneof(
    ...Object.entries(fields).map(([name, value]) =>
      (value as fc.Arbitrary<unknown>).map((given) => ({ [name]: given })),
    ),
  );
  return fc.array(one, { minLength: 1, maxLength: 3 }).map((all) => Object.assign({}, ...all) as Match);
}

type Rule = readonly [match: Match, except: Match | undefined, decision: Partial<PolicyRule>];

const ALLOW: Rule = [{ inPlan: true }, undefined, { decision: "allow" }];
const HOLD = { decision: "hold", approvers: { self: true } } as const;

function someRules(pool: readonly Json[]): fc.Arbitrary<PolicyRule[]> {
  const match = aMatch(pool);
  const decision = fc.constantFrom<Partial<PolicyRule>[]>({ decision: "allow" }, { decision: "block" }, HOLD);
  const rule = fc.tuple(match, fc.option(match, { nil: undefined, freq: 3 }), decision);
  const last = fc.constantFrom<Rule[][]>([], [ALLOW], [ALLOW]);
  return fc.tuple(fc.array(rule, { maxLength: 7 }), last).map(([rules, end]) => numbered([...rules, ...end]));
}

function numbered(rules: readonly Rule[]): PolicyRule[] {
  return rules.map(
    ([match, except, rest], index) =>
      ({ id: `rule-${index}`, match, ...(except && { except }), ...rest }) as PolicyRule,
  );
}

type About = Pick<Drawn["world"], "steps" | "rules">;

/** Any steps and rules. */
function aboutAnything(pool: readonly Json[]): fc.Arbitrary<About> {
  return fc.record({ steps: fc.array(aStep(pool), { minLength: 2, maxLength: 4 }), rules: someRules(pool) });
}

/** A step that reads, one that may use what was read, and a rule that asks where nothing has fixed what is used. */
function aboutOneValue(pool: readonly Json[]): fc.Arbitrary<About> {
  const condition = aCondition(pool, true);
  const named = fc.record({ to: condition }, { noNullPrototype: true });
  const placed = fc.constantFrom("/to", "/to/*").chain((path) => condition.map((given) => ({ [path]: given })));
  const conditions = fc.oneof(
    fc.record({ args: named }),
    fc.record({ at: placed }),
    fc.record({ args: named, at: placed }),
  );
  const unpinned = fc.constantFrom("to", "/to/*", "/to/k", "/to/0").map((target) => [target]);
  return fc.record({
    steps: conditions.map((given): PlanStep[] => [{ tool: "read" }, { tool: "send", ...given }]),
    rules: unpinned.map((targets) => numbered([[{ unpinned: targets }, undefined, HOLD], ALLOW])),
  });
}

const aUser: fc.Arbitrary<User> = fc.record({
  email: fc.constantFrom("bob@acme.dev", "rob@acme.dev", "bob@evil.com"),
  roles: fc.subarray(["admin", "approver", "member"]),
  groups: fc.subarray(["intern", "finance"]),
});

/** A world, and calls that come close to what it is about. */
export const aCase: fc.Arbitrary<{ readonly world: World; readonly calls: readonly Asked[] }> = aPool.chain(
  ({ isWords, pool }) => {
    const result = isWords
      ? fc.oneof(
          aValue(pool),
          aText(pool),
          aText(pool).map((text): Json => ({ k: text })),
        )
      : aValue(pool);
    const trusted = fc.record({ tool: fc.constantFrom("*", "send*", ...TOOL_GLOBS), path: aPlace });
    const value = aValue(pool);
    const world = fc.record({
      about: fc.oneof({ weight: 3, arbitrary: aboutAnything(pool) }, aboutOneValue(pool)),
      trust: fc.option(fc.array(trusted, { maxLength: 2 }), { nil: undefined }),
      user: aUser,
      task: aText(pool),
      isSigned: fc.integer({ max: 9, min: 0 }).map((dice) => dice > 0),
      results: fc.array(fc.record({ step: fc.nat(1), result }), { maxLength: 3 }),
    });
    const call = fc.record({
      step: fc.nat(3),
      isOther: fc.nat(9).map((dice) => dice === 9),
      tool: fc.constantFrom(...TOOLS),
      args: fc.oneof(named(aName, value, 0), {
        weight: 2,
        arbitrary: fc.record({ to: value }, { noNullPrototype: true }),
      }),
      meant: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, value), {
        minLength: 4,
        maxLength: 4,
      }),
      used: fc.array(fc.oneof(fc.constant(0), fc.nat(2)), { minLength: 4, maxLength: 4 }),
    });
    return fc
      .record({
        world: world.map(({ about, ...rest }) => ({ ...rest, ...about })),
        calls: fc.array(call, { minLength: 6, maxLength: 12 }),
        usual: fc.constant(pool[0]!),
      })
      .map(build);
  },
);

interface Drawn {
  /** What is put where any value may do. */
  readonly usual: Json;
  readonly world: Omit<World, "plan" | "policy"> & {
    readonly steps: readonly PlanStep[];
    readonly rules: readonly PolicyRule[];
    readonly trust: { readonly tool: string; readonly path: string }[] | undefined;
  };
  readonly calls: readonly (Asked & {
    readonly step: number;
    readonly isOther: boolean;
    /** Values to put where the step has conditions, in place of those that come close to them. */
    readonly meant: readonly (Json | undefined)[];
  })[];
}

function build({ world, calls, usual }: Drawn): { world: World; calls: Asked[] } {
  const { steps, rules, trust, ...rest } = world;
  const withIds = steps.map((step, index) => ({ ...step, ...(index < 2 && { id: ["first", "second"][index] }) }));
  const plan = parsePlan({ goal: "Any", steps: withIds }, { tools: TOOLS });
  const policy = assertPolicy({ version: 1, default: "block", ...(trust && { trust }), rules });
  const asked = calls.map(({ step, isOther, tool, args, used, meant }) => {
    const near = plan.steps[step % plan.steps.length]!;
    return {
      tool: isOther ? tool : near.tool,
      args: fitArgs(near, { others: args, meant, usual }),
      used: used.slice(0, plan.steps.length),
    };
  });
  return { world: { ...rest, plan, policy }, calls: asked };
}
