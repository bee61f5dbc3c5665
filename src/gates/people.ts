import { IntentlockError, normalizeEmail, type User } from "../core/index.ts";
import type { UserInput } from "./gate.ts";

/** The people that a gate knows: a list, or a look-up by normalised e-mail address that gives undefined for strangers. */
export type People = readonly UserInput[] | ((email: string) => UserInput | undefined | Promise<UserInput | undefined>);

/**
 * The person that a request names, as `people` knows them now; without `people`, as the request says.
 *
 * @throws IntentlockError `ERR_UNKNOWN_USER` for somebody whom `people` does not know, or what is no e-mail address
 */
export async function resolveUser(input: UserInput, people: People | undefined): Promise<User> {
  const named = toUser(input);
  if (people === undefined) return named;
  const found =
    typeof people === "function"
      ? await people(named.email)
      : people.find((person) => toUser(person).email === named.email);
  const known = found === undefined ? undefined : toUser(found);
  if (known?.email !== named.email) throw new IntentlockError("ERR_UNKNOWN_USER", "The gate does not know this user");
  return known;
}

function toUser(input: UserInput): User {
  const { email: given, roles = [], groups = [] } = typeof input === "string" ? { email: input } : input;
  const email = normalizeEmail(given);
  if (email === undefined) throw new IntentlockError("ERR_UNKNOWN_USER", "The user's e-mail address is not one");
  return { email, roles: [...roles], groups: [...groups] };
}
