import type { PeopleAnswer, PersonAnswer } from "../../../../core/api/people.ts";
import { api } from "../session.ts";

/** Looks a person up by e-mail, in whatever case it is written. */
export async function findPerson(email: string): Promise<PersonAnswer | undefined> {
  const sought = email.normalize("NFC").toLowerCase();
  let after: string | undefined;
  do {
    const { people, next }: PeopleAnswer = await api.get("/v1/people", { query: { limit: 1000, after } });
    const found = people.find((person) => person.email.toLowerCase() === sought);
    if (found) return found;
    after = next;
  } while (after !== undefined);
  return undefined;
}
