import { createSignInLink, FIRST_LINK_MS, type LinkContext } from "./sign-in.ts";

/**
 * Makes the first administrator of a new store, with a sign-in link of 24 hours. Of several servers that start at once one
 * does.
 *
 * @returns the link; undefined if there is an administrator already
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for what is no e-mail address
 */
export async function createFirstAdmin(context: LinkContext, email: string): Promise<string | undefined> {
  const { store, clock, actor } = context;
  const now = clock();
  const isFirst = await store.administer(async (inside) => {
    if (await inside.people.hasAdmin()) return false;
    const known = await inside.people.get(email);
    const roles = [...new Set([...(known?.roles ?? []), "admin" as const])];
    const person = { email, roles, groups: known?.groups ?? [], name: known?.name ?? null };
    await inside.people.upsert({ ...person, createdAt: known?.createdAt ?? now, disabledAt: null });
    await inside.adminAudit.append({ at: now, actor, action: "person.save", target: email, details: { roles } });
    return true;
  });
  return isFirst ? (await createSignInLink(context, email, { lastsMs: FIRST_LINK_MS })).url : undefined;
}

/** Whether a store has nobody yet who administers it. */
export async function needsFirstAdmin({ store }: Pick<LinkContext, "store">): Promise<boolean> {
  return !(await store.people.hasAdmin());
}
