import type { Logger } from "pino";
import type { Endpoint, Problem, ProblemCode, StreamEndpoint } from "../core/api/index.ts";
import type { KeyRing } from "./key-ring.ts";
import type { Agent, ApiKey, Person, Store, WebSession } from "./store/index.ts";

/** Who asks, as the server has found out: an agent by its API key, a person by the cookie of their session. */
export type Caller =
  | { readonly kind: "agent"; readonly agent: Agent; readonly apiKey: ApiKey }
  | { readonly kind: "person"; readonly person: Person; readonly session: WebSession }
  | { readonly kind: "none" };

/** What every handler works with. Nothing of it is state: any number of servers may share one store. */
export interface ServerContext {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly keys: KeyRing;
  readonly log: Logger;
  /** Where people and agents reach the server, without a slash at the end: `iss` of its tokens, and in links. */
  readonly publicUrl: string;
}

/** A request that was let in and read: parameters, query and body are what the endpoint's schemas say. */
export interface ApiRequest<Body, Query> {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly requestId: string;
  readonly headers: Headers;
  /** Where the request came from, as far as the server knows: what rate limits count by. */
  readonly clientAddress: string;
  /** Aborted when the client goes away or the server shuts down. */
  readonly signal: AbortSignal;
}

export interface ApiAnswer<Answer> {
  readonly status: number;
  readonly body: Answer;
  /** Beside the ones that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers one endpoint. @throws ProblemError for what is refused; anything else is `internal` */
export type Handler<Body, Answer, Query> = (
  request: ApiRequest<Body, Query>,
  context: ServerContext,
) => Promise<ApiAnswer<Answer>>;

/** What an endpoint that has a `media` answers: cancelled when the client goes away or the server shuts down. */
export type AnswerStream = ReadableStream<Uint8Array>;

/** The handler of an endpoint of the table in `core/api`. */
export type HandlerOf<E> =
  E extends StreamEndpoint<infer _, infer Query>
    ? Handler<undefined, AnswerStream, Query>
    : E extends Endpoint<infer Body, infer Answer, infer Query>
      ? Handler<Body, Answer, Query>
      : never;

/** The handlers of some endpoints, by the names that they have in the table. */
export type HandlersOf<Endpoints> = { readonly [Name in keyof Endpoints]: HandlerOf<Endpoints[Name]> };

/** What is answered instead of what was asked for. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly more: Pick<Problem, "detail" | "issues" | "chain">;
  /** For the header Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProblemCode,
    more: Pick<Problem, "detail" | "issues" | "chain"> & {
      readonly retryAfterSeconds?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    const { retryAfterSeconds, cause, ...rest } = more;
    super(rest.detail ?? code, { cause });
    this.name = "ProblemError";
    this.code = code;
    this.more = rest;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
