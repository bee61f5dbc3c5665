import { IntentlockError, normalizeEmail, type Role, type User } from "../core/index.ts";
import type { UserInput } from "./gate.ts";

/** The people that a gate knows: a list, or a look-up by normalised e-mail address that gives undefined for strangers. */
export type People = readonly UserInput[] | ((email: string) => UserInput | undefined | Promise<UserInput | undefined>);

/**
 * The person that a request names, as `people` knows them now; without `people`, as the request says.
 *
 * @throws IntentlockError `ERR_UNKNOWN_USER` for somebody whom `people` does not know; as {@link toUser} does for what
 * `people` says
 */
export async function resolveUser(named: User, people: People | undefined): Promise<User> {
  if (people === undefined) return named;
  const known = typeof people === "function" ? await askFor(named.email, people) : findIn(people, named.email);
  if (known?.email !== named.email) throw new IntentlockError("ERR_UNKNOWN_USER", "The gate does not know this user");
  return known;
}

/**
 * A person as an application names them, copied and normalised.
 *
 * @throws IntentlockError `ERR_UNKNOWN_USER` if the e-mail address is not one, `ERR_INVALID_OPTIONS` if roles or groups
 * are not lists (the letters of `"intern"` are groups that no rule is about) or a role is none
 */
export function toUser(input: UserInput): User {
  if (typeof input !== "string" && (typeof input !== "object" || input === null)) {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "user: expected an e-mail address, or { email, roles, groups }");
  }
  const { email: given, roles = [], groups = [] } = typeof input === "string" ? { email: input } : input;
  const email = normalizeEmail(given);
  if (email === undefined) throw new IntentlockError("ERR_UNKNOWN_USER", "The user's e-mail address is not one");
  const user = { email, roles: copyNames(roles, "roles"), groups: copyNames(groups, "groups") };
  const unknown = user.roles.some((role) => !ROLES.includes(role as Role));
  if (unknown) throw new IntentlockError("ERR_INVALID_OPTIONS", `The user's roles have to be of ${ROLES.join(", ")}`);
  return Object.freeze(user);
}

/** A role that no rule can be about would make rules against its people miss. */
const ROLES: readonly Role[] = ["admin", "approver", "member"];

async function askFor(email: string, people: Extract<People, (...args: never) => unknown>): Promise<User | undefined> {
  const found = await people(email);
  return found === undefined ? undefined : toUser(found);
}

function findIn(people: readonly UserInput[], email: string): User | undefined {
  const found = people.filter((person) => normalizeEmail(typeof person === "string" ? person : person.email) === email);
  if (found.length > 1) {
    throw new IntentlockError("ERR_INVALID_OPTIONS", "The list of users has this e-mail address more than once");
  }
  return found[0] === undefined ? undefined : toUser(found[0]);
}

function copyNames(names: readonly string[], field: "roles" | "groups"): readonly string[] {
  if (Array.isArray(names) && names.every((name) => typeof name === "string")) return Object.freeze([...names]);
  throw new IntentlockError("ERR_INVALID_OPTIONS", `The user's ${field} have to be a list of names`);
}
