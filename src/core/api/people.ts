import { z } from "zod";
import { type Role, roleSchema } from "../approvers.ts";
import { closedObject } from "../schema.ts";
import type { Endpoint } from "./endpoint.ts";
import { type ListQuery, listQuerySchema, momentSchema, titleSchema } from "./values.ts";

export interface SavePersonBody {
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  readonly name?: string;
}

/** A person that the server knows. */
export interface PersonAnswer extends SavePersonBody {
  /** As `normalizeEmail()` writes it. */
  readonly email: string;
  readonly createdAt: number;
}

export interface PeopleAnswer {
  readonly people: readonly PersonAnswer[];
  readonly next?: string;
}

/** A link that signs a person in once; whoever opens it first is that person here. */
export interface SignInLinkAnswer {
  readonly url: string;
  readonly expiresAt: number;
}

export interface RemovedAnswer {
  readonly removed: true;
}

const roles = z.array(roleSchema).max(3);

export const savePersonBodySchema: z.ZodType<SavePersonBody> = closedObject({
  roles,
  groups: z.array(titleSchema).max(1000),
  name: titleSchema.exactOptional(),
});

export const personAnswerSchema: z.ZodType<PersonAnswer> = z.object({
  email: z.string(),
  roles,
  groups: z.array(z.string()),
  name: z.string().exactOptional(),
  createdAt: momentSchema,
});

export const removedAnswerSchema: z.ZodType<RemovedAnswer> = z.object({ removed: z.literal(true) });

export const signInLinkAnswerSchema: z.ZodType<SignInLinkAnswer> = z.object({
  url: z.string(),
  expiresAt: momentSchema,
});

/** The people that agents act for, that approve, and that administer. */
export const peopleEndpoints: {
  readonly savePerson: Endpoint<SavePersonBody, PersonAnswer>;
  readonly listPeople: Endpoint<undefined, PeopleAnswer, ListQuery>;
  readonly removePerson: Endpoint<undefined, RemovedAnswer>;
  readonly createSignInLink: Endpoint<undefined, SignInLinkAnswer>;
} = {
  savePerson: {
    method: "PUT",
    path: "/v1/people/{email}",
    summary: "Adds a person, or changes the one with this e-mail",
    auth: ["admin"],
    body: savePersonBodySchema,
    maxBodyBytes: 524_288,
    answers: { 200: personAnswerSchema },
    problems: ["last_admin"],
  },
  listPeople: {
    method: "GET",
    path: "/v1/people",
    summary: "The people",
    auth: ["admin"],
    query: listQuerySchema,
    answers: { 200: z.object({ people: z.array(personAnswerSchema), next: z.string().exactOptional() }) },
  },
  removePerson: {
    method: "DELETE",
    path: "/v1/people/{email}",
    summary: "Removes a person: no agent acts for them and no session of theirs counts from here on",
    auth: ["admin"],
    answers: { 200: removedAnswerSchema },
    problems: ["last_admin"],
  },
  createSignInLink: {
    method: "POST",
    path: "/v1/people/{email}/sign-in-link",
    summary: "Makes a link that signs a person in once, to be handed to them",
    auth: ["admin"],
    answers: { 201: signInLinkAnswerSchema },
    problems: ["unknown_user"],
  },
};
