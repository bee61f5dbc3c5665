import type { ListQuery, PeopleAnswer, PersonAnswer, RemovedAnswer, SavePersonBody } from "../../core/api/index.ts";
import { normalizeEmail } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import type { Person, StoreInTransaction } from "../store/index.ts";
import { toDetails } from "./details.ts";
import { describeEvent, type Operator } from "./operator.ts";
import { cutPart, DEFAULT_LIMIT } from "./take-part.ts";

/**
 * Adds a person, or changes the one with this e-mail, from their next request on.
 *
 * @throws ProblemError `last_admin`; `invalid_request` for what is no e-mail address
 */
export async function savePerson(
  operator: Operator,
  { email: given, roles, groups, name }: SavePersonBody & { readonly email: string },
): Promise<PersonAnswer> {
  const email = readEmail(given);
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    if (!roles.includes("admin")) await assertNotLastAdmin(store, email);
    const known = await store.people.get(email);
    const person: Person = {
      email,
      name: name ?? null,
      roles: [...new Set(roles)],
      groups: [...new Set(groups)],
      createdAt: known?.createdAt ?? at,
      disabledAt: known?.disabledAt ?? null,
    };
    await store.people.upsert(person);
    const details = toDetails({ roles: person.roles, groups: person.groups, name });
    await store.adminAudit.append(describeEvent(operator, { at, action: "person.save", target: email, details }));
    return describePerson(person);
  });
}

/** The people, by e-mail. */
export async function listPeople(
  { store }: Pick<Operator, "store">,
  { limit = DEFAULT_LIMIT, after }: ListQuery = {},
): Promise<PeopleAnswer> {
  const some = await store.people.list({ limit: Math.min(limit + 1, 1000), ...(after !== undefined && { after }) });
  const { items, ...rest } = cutPart(some, Math.min(limit, 999), ({ email }) => email);
  return { people: items.map(describePerson), ...rest };
}

/** Removes a person, with their sessions and sign-in links. @throws ProblemError `not_found`, `last_admin` */
export async function removePerson(operator: Operator, given: string): Promise<RemovedAnswer> {
  const email = readEmail(given);
  const at = operator.clock();
  return await operator.store.administer(async (store) => {
    await assertNotLastAdmin(store, email);
    if (!(await store.people.remove(email))) throw new ProblemError("not_found");
    await store.adminAudit.append(describeEvent(operator, { at, action: "person.remove", target: email }));
    return { removed: true };
  });
}

async function assertNotLastAdmin({ people }: Pick<StoreInTransaction, "people">, email: string): Promise<void> {
  const person = await people.get(email);
  const isAdmin = person?.roles.includes("admin") === true && person.disabledAt === null;
  if (isAdmin && !(await people.hasAdmin({ beside: email }))) throw new ProblemError("last_admin");
}

function readEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email !== undefined) return email;
  throw new ProblemError("invalid_request", { issues: [{ path: "email", message: "expected an e-mail address" }] });
}

function describePerson({ email, roles, groups, name, createdAt }: Person): PersonAnswer {
  return { email, roles, groups, ...(name !== null && { name }), createdAt };
}
