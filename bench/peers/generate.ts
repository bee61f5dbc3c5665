import type { Json, JsonObject, PolicyRule } from "intentlock/core";
import type { PeerCall } from "./engine.ts";

/** Policies by the feature that they are about. All have an order that matters, and several rules for the same tool. */
export function featurePolicies(): Readonly<Record<string, readonly PolicyRule[]>> {
  const repo = (condition: object) => ({ args: { repo: condition } });
  const amount = (condition: object) => ({ args: { amount: condition } });
  return {
    "exact names and globs": rules({}, {}),
    eq: rules(repo({ eq: "acme/app" }), amount({ eq: 10 })),
    in: rules(repo({ in: ["acme/app", "acme/web", 10] }), {}),
    notIn: rules(repo({ notIn: ["acme/app", "acme/web", 10] }), {}),
    glob: rules(repo({ glob: "acme/*" }), repo({ glob: "acme/app*" })),
    notGlob: rules(repo({ notGlob: "acme/*" }), {}),
    regex: rules(repo({ regex: "[a-z]+/(app|web)" }), {}),
    "lte and gte": rules(amount({ lte: 20, gte: 10 }), amount({ gte: 20 })),
    "lte of a fraction": rules(amount({ lte: 10.5 }), {}),
    "several arguments": rules({ args: { repo: { glob: "acme/*" }, amount: { eq: 10 } } }, {}),
    "an argument with a dot in its name": rules({ args: { "repo.name": { eq: "app" } } }, {}),
    "an argument with an inherited name": rules({ args: { constructor: { notIn: ["app"] } } }, {}),
    "a role": rules({ user: { role: "admin" } }, repo({ eq: "acme/app" })),
  };
}

/** The first three are about one tool, and later ones about the same and others with the other match. */
function rules(one: PolicyRule["match"], other: PolicyRule["match"]): PolicyRule[] {
  const tools = ["github_post", "github_*", "constructor", "mail_*", "github_post", "__proto__", "github_l*"];
  return tools.map((tool, index) => ({
    id: `rule-${index}`,
    match: { tool, ...(index % 2 === 0 ? one : other) },
    decision: index % 3 === 0 ? "block" : "allow",
  }));
}

const TOOLS = [
  "github_post",
  "github_list",
  "github_",
  "mail_send",
  "mailer",
  "constructor",
  "__proto__",
  "Github_post",
];
const REPOS: readonly (Json | undefined)[] = [
  ...["acme/app", "acme/web", "acme/app-2", "acme/", "acme/..", "acme/.env", "acme/a/b", "acme/app\n", "other/app", ""],
  ...[undefined, 10, true, null, ["acme/app"], { name: "app" }],
];
const AMOUNTS: readonly (Json | undefined)[] = [undefined, -5, 0, 9, 10, 10.5, 11, 20, 21, "10", "x", true, null, [10]];
const NAMES: readonly (Json | undefined)[] = [undefined, undefined, "app", "web"];
const ROLES = [["member"], ["member", "approver"], ["admin"], []];

/** Calls that hit, miss, and come close: missing arguments, values of other types, names of Object's prototype. */
export function generateCalls(count: number): PeerCall[] {
  const random = seededRandom(20_261_130);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  return Array.from({ length: count }, () => {
    const given = { repo: pick(REPOS), amount: pick(AMOUNTS), "repo.name": pick(NAMES), constructor: pick(NAMES) };
    const args: JsonObject = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    return { tool: pick(TOOLS), args, user: { email: "alice@acme.dev", roles: pick(ROLES), groups: [] } };
  });
}

/** Mulberry32: the same calls on every machine and in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
