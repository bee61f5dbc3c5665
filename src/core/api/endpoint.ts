import type { z } from "zod";
import type { ProblemCode } from "../problem.ts";
import { listParameters } from "./parameters.ts";

/**
 * Who may ask: `agent` with an API key, `person` who is signed in, `admin` a person of that role, `none` anybody. What
 * they may see of it is the server's to decide.
 */
export type AuthKind = "agent" | "person" | "admin" | "none";

/** The cookie of a session of a person who is signed in; with `__Host-` before it where the server is reached with TLS. */
export const SESSION_COOKIE = "intentlock_session";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Server-sent events, each with JSON as its `data`; or lines of JSON. */
export type StreamMedia = "text/event-stream" | "application/x-ndjson";

/** One thing that can be asked of the server. The server's routes, its clients and the OpenAPI document are made of it. */
export interface Endpoint<Body = undefined, Answer = unknown, Query = undefined> {
  readonly method: Method;
  /** Parameters stand in braces: `/v1/plans/{planId}`. `parameterSchema()` has the schema of each. */
  readonly path: string;
  readonly summary: string;
  /** Any of these is enough. */
  readonly auth: readonly [AuthKind, ...AuthKind[]];
  /** Of the query. Its values are text before they are read. */
  readonly query?: z.ZodType<Query>;
  /** Of the body. Without one there is none, and `{}` is taken too. */
  readonly body?: z.ZodType<Body>;
  /** The most bytes of the body that are read; {@link MAX_BODY_BYTES} unless it says so. */
  readonly maxBodyBytes?: number;
  /** What is answered, by HTTP status. */
  readonly answers: Readonly<Record<number, z.ZodType<Answer>>>;
  /** Of an answer that comes piece by piece: `answers` has the schema of one. Without it, the answer is one JSON. */
  readonly media?: StreamMedia;
  /** The problems that are this endpoint's own, beside the ones that {@link problemsOf} adds. */
  readonly problems?: readonly ProblemCode[];
}

/** An endpoint that answers piece by piece. */
export type StreamEndpoint<Piece, Query = undefined> = Endpoint<undefined, Piece, Query> & {
  readonly media: StreamMedia;
};

/** What is read of a body, in bytes, unless the endpoint says otherwise. */
export const MAX_BODY_BYTES = 65_536;

/** An endpoint of whatever is asked and answered. */
// biome-ignore lint/suspicious/noExplicitAny: schemas of every body; what they give is known where one endpoint is.
export type AnyEndpoint = Endpoint<any, unknown, any>;

/** Every problem that an endpoint may answer with. */
export function problemsOf(endpoint: AnyEndpoint): readonly ProblemCode[] {
  const { auth, path, query, method, problems = [] } = endpoint;
  const codes = new Set<ProblemCode>();
  if (query || method !== "GET" || listParameters(path).length > 0) codes.add("invalid_request");
  if (auth.includes("agent")) codes.add("api_key_rejected");
  if (auth.includes("person") || auth.includes("admin")) codes.add("sign_in_required").add("forbidden");
  if (listParameters(path).length > 0) codes.add("not_found");
  if (method !== "GET") codes.add("payload_too_large").add("unsupported_media_type");
  for (const code of problems) codes.add(code);
  for (const code of ["rate_limited", "internal", "unavailable"] as const) codes.add(code);
  return [...codes];
}
