import type { holdEndpoints, SessionAnswer, sessionEndpoints } from "../../core/api/index.ts";
import { type Caller, type HandlersOf, ProblemError, type ServerContext } from "../handler.ts";
import { hashSecret } from "../secret.ts";
import { decideHold } from "./decide-hold.ts";
import { describeOpened } from "./describe-hold.ts";
import { InboxFeed } from "./inbox-feed.ts";
import { getInboxItem } from "./inbox-item.ts";
import { listInbox } from "./list-inbox.ts";
import { assertOwnPage } from "./same-origin.ts";
import { SESSION_MAX_MS, type SignedIn } from "./session.ts";
import { readSessionCookie, writeSessionCookie } from "./session-cookie.ts";
import { signIn } from "./sign-in.ts";

/** What happens to holds, told to the pages that are open on one server. */
export function createFeedHandlers(context: ServerContext): HandlersOf<Pick<typeof holdEndpoints, "watchInbox">> {
  const feed = new InboxFeed(context);
  return {
    async watchInbox({ caller, headers }) {
      // A page of a neighbouring host sends the cookie, too, and could use up all the streams that a person may have.
      assertOwnPage(headers, context.publicUrl);
      // Proxies that gather what they pass on would keep the events to themselves.
      return { status: 200, body: feed.open(toPerson(caller)), headers: { "x-accel-buffering": "no" } };
    },
  };
}

/** What people do who are signed in: decide holds, and their sessions. */
export const personHandlers: HandlersOf<
  Pick<typeof holdEndpoints, "decideHold" | "listInbox" | "getInboxItem"> & typeof sessionEndpoints
> = {
  async decideHold({ caller, params, body }, context) {
    const { person, session } = toPerson(caller);
    const decision = { ...body, holdId: params["holdId"] ?? "", linkBy: session.linkBy };
    const hold = await decideHold(context, person, decision);
    return { status: 200, body: describeOpened(hold) };
  },

  async listInbox({ caller, query }, context) {
    return { status: 200, body: await listInbox(context, toPerson(caller).person, query) };
  },

  async getInboxItem({ caller, params }, context) {
    return { status: 200, body: await getInboxItem(context, toPerson(caller).person, params["holdId"] ?? "") };
  },

  async signIn({ body, headers, clientAddress }, context) {
    const { publicUrl } = context;
    // Another site's page must not sign a person in: they would act in a session that somebody else looks into.
    assertOwnPage(headers, publicUrl);
    const begun = await signIn(context, { ...body, clientAddress, previous: readSessionCookie(headers, publicUrl) });
    const cookie = writeSessionCookie(begun.token, { publicUrl, maxAgeSeconds: SESSION_MAX_MS / 1000 });
    return { status: 201, body: describeSession(begun), headers: { "set-cookie": cookie } };
  },

  async getSession({ caller }) {
    return { status: 200, body: describeSession(toPerson(caller)) };
  },

  async signOut({ caller, headers }, { store, publicUrl }) {
    toPerson(caller);
    const token = readSessionCookie(headers, publicUrl);
    if (token !== undefined) await store.signIn.removeSession(hashSecret(token));
    const cookie = writeSessionCookie("", { publicUrl, maxAgeSeconds: 0 });
    return { status: 200, body: { removed: true }, headers: { "set-cookie": cookie } };
  },
};

/** @throws ProblemError `forbidden` for an agent: the table lets people in alone where this is used */
export function toPerson(caller: Caller): SignedIn {
  if (caller.kind !== "person") throw new ProblemError("forbidden");
  return caller;
}

function describeSession({ person, session }: SignedIn): SessionAnswer {
  const { email, roles, groups } = person;
  return { email, roles, groups, csrf: session.csrf, expiresAt: session.expiresAt };
}
