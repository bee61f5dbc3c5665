import type { SignInLinkAnswer } from "../../core/api/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { createSecret, hashSecret } from "../secret.ts";
import type { Person, Store, WebSession } from "../store/index.ts";
import { SESSION_IDLE_MS } from "./session.ts";

/** How long a sign-in link can be used. */
export const LINK_MS: number = 15 * 60_000;
/** How long the first administrator's can be. */
export const FIRST_LINK_MS: number = 24 * 3_600_000;
/** As many links as are made for one person in an hour, so that nobody is flooded with them. */
const MAX_LINKS = 20;
/** As many links as are tried in vain from one address in 15 minutes. */
const MAX_FAILURES = 30;

/** What links are made with; the command line has it without a server. */
export interface LinkContext {
  readonly store: Store;
  readonly clock: () => number;
  readonly publicUrl: string;
  /** Who makes it: a person's e-mail, or `cli:` and the name of the system's user. */
  readonly actor: string;
}

/**
 * Makes a link that signs a person in once. What counts in it stands after the `#`, which browsers send to nobody: it is in
 * no log and in no `Referer`, and what opens links to look at them does not use it up.
 *
 * @throws ProblemError `unknown_user`, also for who is disabled; `rate_limited`
 */
export async function createSignInLink(
  { store, clock, publicUrl, actor }: LinkContext,
  email: string,
  { lastsMs = LINK_MS }: { readonly lastsMs?: number } = {},
): Promise<SignInLinkAnswer> {
  const now = clock();
  const person = await store.people.get(email);
  if (!person || person.disabledAt !== null) throw new ProblemError("unknown_user");
  if ((await store.rateLimits.hit(`sign-in link ${person.email}`, 3600, now)) > MAX_LINKS) {
    throw new ProblemError("rate_limited", { retryAfterSeconds: 3600 });
  }
  const token = createSecret();
  const expiresAt = now + lastsMs;
  const link = { hash: hashSecret(token), email: person.email, createdAt: now, createdBy: actor, expiresAt };
  await store.administer(async (inside) => {
    await inside.signIn.addLink(link);
    const details = { expiresAt };
    await inside.adminAudit.append({ at: now, actor, action: "sign-in-link.create", target: person.email, details });
  });
  return { url: `${publicUrl}/sign-in#${token}`, expiresAt };
}

/** A session that has just begun, and the token for its cookie: the one time that it is known. */
export interface NewSession {
  readonly token: string;
  readonly session: WebSession;
  readonly person: Person;
}

/**
 * Uses a link up for a session of its person. The token of the session is always a new one; the session that the browser
 * had before ends.
 *
 * @param request.previous the token in the browser's cookie, if it has one
 * @throws ProblemError `sign_in_link_invalid`, the same whatever is wrong with it; `rate_limited`
 */
export async function signIn(
  { store, clock }: Pick<ServerContext, "store" | "clock">,
  { token, previous, clientAddress }: SignInRequest,
): Promise<NewSession> {
  const now = clock();
  const link = await store.signIn.useLink(hashSecret(token), now);
  const person = link && (await store.people.get(link.email));
  if (!person) {
    // Counted after the look-up: who shares an address with an attacker and has a good link is let in.
    const failures = await store.rateLimits.hit(`sign-in ${clientAddress}`, 900, now);
    if (failures > MAX_FAILURES) throw new ProblemError("rate_limited", { retryAfterSeconds: 900 });
    throw new ProblemError("sign_in_link_invalid");
  }
  if (previous !== undefined) await store.signIn.removeSession(hashSecret(previous));
  const secret = createSecret();
  const session: WebSession = {
    hash: hashSecret(secret),
    email: person.email,
    csrf: createSecret(),
    createdAt: now,
    linkBy: link.createdBy,
    expiresAt: now + SESSION_IDLE_MS,
    lastSeenAt: now,
  };
  await store.signIn.addSession(session);
  return { token: secret, session, person };
}

export interface SignInRequest {
  /** Of the link. */
  readonly token: string;
  readonly previous: string | undefined;
  readonly clientAddress: string;
}
