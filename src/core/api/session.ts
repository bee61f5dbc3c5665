import { z } from "zod";
import { type Role, roleSchema } from "../approvers.ts";
import { closedObject } from "../schema.ts";
import type { Endpoint } from "./endpoint.ts";
import { type RemovedAnswer, removedAnswerSchema } from "./people.ts";
import { momentSchema } from "./values.ts";

/** The header with {@link SessionAnswer.csrf}, which every request of a person has that changes something. */
export const CSRF_HEADER = "x-intentlock-csrf";

/**
 * The header, of any value, of a request that a page makes by itself, without its person doing anything: who is not there
 * does not use their session, and it does not last longer for it.
 */
export const BACKGROUND_HEADER = "x-intentlock-background";

export interface SignInBody {
  /** Of a sign-in link: what stands after its `#`. */
  readonly token: string;
}

/** Who is signed in. */
export interface SessionAnswer {
  readonly email: string;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  /** For the header {@link CSRF_HEADER}. */
  readonly csrf: string;
  /** When the session ends, if nobody uses it until then. */
  readonly expiresAt: number;
}

export const signInBodySchema: z.ZodType<SignInBody> = closedObject({ token: z.string().max(200) });

export const sessionAnswerSchema: z.ZodType<SessionAnswer> = z.object({
  email: z.string(),
  roles: z.array(roleSchema),
  groups: z.array(z.string()),
  csrf: z.string().max(200),
  expiresAt: momentSchema,
});

/** Sessions of people. There is no way to ask for a sign-in link: somebody with access to the server's machine makes it. */
export const sessionEndpoints: {
  readonly signIn: Endpoint<SignInBody, SessionAnswer>;
  readonly getSession: Endpoint<undefined, SessionAnswer>;
  readonly signOut: Endpoint<undefined, RemovedAnswer>;
} = {
  signIn: {
    method: "POST",
    path: "/v1/session",
    summary: "Uses a sign-in link up, and answers with the cookie of a new session",
    auth: ["none"],
    body: signInBodySchema,
    answers: { 201: sessionAnswerSchema },
    problems: ["sign_in_link_invalid", "forbidden"],
  },
  getSession: {
    method: "GET",
    path: "/v1/session",
    summary: "Who is signed in",
    auth: ["person"],
    answers: { 200: sessionAnswerSchema },
  },
  signOut: {
    method: "DELETE",
    path: "/v1/session",
    summary: "Ends the session",
    auth: ["person"],
    answers: { 200: removedAnswerSchema },
  },
};
