import type { BACKGROUND_HEADER as BackgroundHeader, CSRF_HEADER as CsrfHeader } from "../../../core/api/session.ts";
import type { Issue } from "../../../core/errors.ts";
import type { Problem, ProblemCode } from "../../../core/problem.ts";
import { readServerTime } from "./parts/clock.ts";

const CSRF_HEADER: typeof CsrfHeader = "x-intentlock-csrf";
const BACKGROUND_HEADER: typeof BackgroundHeader = "x-intentlock-background";
/** No request of a page takes longer; the stream of events is no such request. */
const TIMEOUT_MS = 30_000;

/** Why there is no answer: the server's problem, or that it could not be reached, or that what came is not its answer. */
export type ApiErrorCode = ProblemCode | "unreachable" | "unreadable_answer";

/** A request that was refused or got no answer. `code` is the contract, the other fields are for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ApiErrorCode;
  /** Of the answer; 0 if there is none. */
  readonly status: number;
  /** What about this request. */
  readonly detail: string | undefined;
  readonly help: string | undefined;
  readonly issues: readonly Issue[];
  /** The request's id, as the server's log has it. */
  readonly instance: string | undefined;

  constructor(problem: { readonly title: string; readonly code: ApiErrorCode } & Partial<Omit<Problem, "code">>) {
    super(problem.title);
    this.code = problem.code;
    this.status = problem.status ?? 0;
    this.detail = problem.detail;
    this.help = problem.help;
    this.issues = problem.issues ?? [];
    this.instance = problem.instance;
  }
}

export interface AskOptions {
  readonly body?: unknown;
  /** What is undefined or empty is left out. */
  readonly query?: object;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the server. Every failure is an {@link ApiError}, but for a request that was aborted by its signal. */
export interface Api {
  get<Answer>(path: string, options?: Omit<AskOptions, "body">): Promise<Answer>;
  post<Answer>(path: string, body?: unknown, options?: AskOptions): Promise<Answer>;
  put<Answer>(path: string, body: unknown, options?: AskOptions): Promise<Answer>;
  patch<Answer>(path: string, body: unknown, options?: AskOptions): Promise<Answer>;
  delete<Answer>(path: string, options?: AskOptions): Promise<Answer>;
}

export interface ApiSetup {
  readonly fetch: typeof fetch;
  /** Of the session, for what changes something. */
  readonly csrf: () => string | undefined;
  /** Nobody is signed in any more. */
  readonly onSignedOut: () => void;
  /** Whether a person is there: what is asked for otherwise does not make their session last longer. */
  readonly isPresent: () => boolean;
}

export function createApi(setup: ApiSetup): Api {
  const ask = <Answer>(method: string, path: string, options: AskOptions = {}) =>
    askServer(setup, { method, path, ...options }) as Promise<Answer>;
  return {
    get: (path, options) => ask("GET", path, options),
    post: (path, body, options) => ask("POST", path, { ...options, body }),
    put: (path, body, options) => ask("PUT", path, { ...options, body }),
    patch: (path, body, options) => ask("PATCH", path, { ...options, body }),
    delete: (path, options) => ask("DELETE", path, options),
  };
}

interface Ask extends AskOptions {
  readonly method: string;
  readonly path: string;
}

async function askServer(setup: ApiSetup, { method, path, body, query, signal }: Ask): Promise<unknown> {
  const csrf = method === "GET" ? undefined : setup.csrf();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await setup.fetch(`${path}${writeQuery(query)}`, {
      method,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(csrf !== undefined && { [CSRF_HEADER]: csrf }),
        ...(!setup.isPresent() && { [BACKGROUND_HEADER]: "1" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      credentials: "same-origin",
      redirect: "error",
      cache: "no-store",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
  readServerTime(response.headers.get("date"));
  if (response.ok) return readAnswer(text, response.status);
  const error = toApiError(text, response.status);
  if (error.code === "sign_in_required") setup.onSignedOut();
  throw error;
}

/** `?a=1&b=2`, or nothing. */
export function writeQuery(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

function readAnswer(text: string, status: number): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    throw unreadable(status);
  }
}

/** The problem in an answer. Something between the browser and the server may have answered in its place. */
export function toApiError(text: string, status: number): ApiError {
  try {
    const problem = JSON.parse(text) as Partial<Problem> | null;
    if (typeof problem?.code === "string" && typeof problem.title === "string") {
      return new ApiError({ ...problem, code: problem.code, title: problem.title, status });
    }
  } catch {
    // A page of a proxy, most likely.
  }
  return unreadable(status);
}

function unreadable(status: number): ApiError {
  const title = `The server's answer could not be read (status ${status})`;
  return new ApiError({ code: "unreadable_answer", title, status, help: "Try again. A proxy may have answered." });
}

function unreachable(): ApiError {
  const help = "Check the connection and that the server runs, then try again.";
  return new ApiError({ code: "unreachable", title: "The server could not be reached", help });
}

/** Whatever was thrown, as something that can be shown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const help = "Reload the page. If it happens again, the page has a mistake.";
  return new ApiError({ code: "internal", title: "Something went wrong in this page", help });
}
