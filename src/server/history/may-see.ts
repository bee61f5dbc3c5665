import type { DecisionFilter } from "../../core/api/index.ts";
import type { ServerContext } from "../handler.ts";
import { HoldSight } from "../people/may-see.ts";
import type { Person, PlanState } from "../store/index.ts";

/**
 * Whether a person may see all that happened under a plan: an administrator, the person for whom it was made, and whoever
 * may see one of its holds, because they decide by it. {@link limitToSeen} says the same of lists, without holds.
 */
export async function maySeeStory(
  context: Pick<ServerContext, "store" | "clock">,
  person: Person,
  plan: Pick<PlanState, "id" | "userEmail">,
): Promise<boolean> {
  if (seesAll(person) || plan.userEmail === person.email) return true;
  const holds = await context.store.holds.headsOf(plan.id);
  return (await new HoldSight(context, person).filter(holds)).length > 0;
}

/** The decisions that a person may see of those that they ask for: of all people's, or of their own. @returns undefined for none */
export function limitToSeen<Filter extends DecisionFilter>(person: Person, filter: Filter): Filter | undefined {
  if (seesAll(person)) return filter;
  if (filter.user !== undefined && filter.user !== person.email) return undefined;
  return { ...filter, user: person.email };
}

export function seesAll({ roles }: Pick<Person, "roles">): boolean {
  return roles.includes("admin");
}
