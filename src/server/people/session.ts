import { BACKGROUND_HEADER, CSRF_HEADER } from "../../core/api/index.ts";
import { ProblemError, type ServerContext } from "../handler.ts";
import { hashSecret, isSameSecret } from "../secret.ts";
import type { Person, WebSession } from "../store/index.ts";
import { isSameOrigin } from "./same-origin.ts";
import { readSessionCookie } from "./session-cookie.ts";

/** How long a session lasts that nobody uses. */
export const SESSION_IDLE_MS: number = 12 * 3_600_000;
/** How long a session lasts at most, however much it is used. */
export const SESSION_MAX_MS: number = 7 * 86_400_000;
/** How exact the end of an idle session is: one in use is not written with every request. */
const TOUCH_EVERY_MS = 60_000;

const SAFE_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/** A person who is signed in. */
export interface SignedIn {
  readonly person: Person;
  readonly session: WebSession;
}

/**
 * Who is signed in, by the session cookie. People who are disabled or removed are not, from that moment on.
 *
 * @param isUse whether this kind of request makes the session last longer, if no page makes it by itself
 * @returns undefined if nobody is
 * @throws ProblemError `forbidden` for a request that changes something and was not made by a page of this server: it
 * needs the session's token in the header `x-intentlock-csrf`, and an `Origin` that is ours if it has one
 */
export async function identifyPerson(
  request: Request,
  context: ServerContext,
  isUse = true,
): Promise<SignedIn | undefined> {
  const token = readSessionCookie(request.headers, context.publicUrl);
  if (token === undefined) return undefined;
  const found = await findSignedIn(context, hashSecret(token));
  if (!found) return undefined;
  const { person, session } = found;
  if (!SAFE_METHODS.includes(request.method)) checkIntent(request, session, context);
  if (!isUse || request.headers.has(BACKGROUND_HEADER)) return found;
  return { person, session: await prolong(session, context.clock(), context) };
}

/** Who is signed in by the session of this hash, if anybody still is. To look does not make the session last longer. */
export async function findSignedIn(
  { store, clock }: Pick<ServerContext, "store" | "clock">,
  hash: string,
): Promise<SignedIn | undefined> {
  const now = clock();
  const session = await store.signIn.findSession(hash, now);
  if (!session || now >= session.createdAt + SESSION_MAX_MS) return undefined;
  const person = await store.people.get(session.email);
  return person && person.disabledAt === null ? { person, session } : undefined;
}

function checkIntent(request: Request, session: WebSession, { publicUrl }: ServerContext): void {
  if (!isSameOrigin(request.headers, [publicUrl, request.url])) {
    throw new ProblemError("forbidden", { detail: "The request comes from a page of another site" });
  }
  if (!isSameSecret(request.headers.get(CSRF_HEADER) ?? "", session.csrf)) {
    throw new ProblemError("forbidden", { detail: `The header ${CSRF_HEADER} is not the one of this session` });
  }
}

async function prolong(session: WebSession, now: number, { store }: ServerContext): Promise<WebSession> {
  if (now - session.lastSeenAt < TOUCH_EVERY_MS) return session;
  const expiresAt = Math.min(now + SESSION_IDLE_MS, session.createdAt + SESSION_MAX_MS);
  await store.signIn.touchSession(session.hash, { now, expiresAt });
  return { ...session, lastSeenAt: now, expiresAt };
}
