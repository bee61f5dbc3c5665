import { createProblem, PROBLEM_MEDIA_TYPE, PROBLEMS } from "../../core/api/index.ts";
import { IntentlockError } from "../../core/index.ts";
import { type AnswerStream, type ApiAnswer, ProblemError } from "../handler.ts";
import { type PassOptions, passStream } from "./pass-stream.ts";

/** On every answer: nothing of it is kept by caches, taken for another type, or shown or loaded by a page of another site. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
} as const;

/** @param stream for the body of an endpoint that has a `media` */
export function toResponse(
  { status, body, headers }: ApiAnswer<unknown>,
  requestId: string,
  stream?: () => PassOptions,
): Response {
  const options = body instanceof ReadableStream ? stream?.() : undefined;
  return new Response(options ? passStream(body as AnswerStream, options) : JSON.stringify(body), {
    status,
    headers: {
      ...HEADERS,
      "content-type": options?.media ?? "application/json",
      "x-request-id": requestId,
      ...headers,
    },
  });
}

/** The one form of everything that is not what was asked for (RFC 9457). */
export function toProblemResponse(
  error: ProblemError,
  requestId: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { code, retryAfterSeconds } = error;
  const headers: Record<string, string> = {
    ...HEADERS,
    "content-type": PROBLEM_MEDIA_TYPE,
    "x-request-id": requestId,
    ...more,
  };
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  if (code === "api_key_rejected") headers["www-authenticate"] = "Bearer";
  const problem = createProblem(code, { ...error.more, instance: requestId });
  return new Response(JSON.stringify(problem), { status: PROBLEMS[code].status, headers });
}

/** What was thrown as what may be said of it: of anything but a {@link ProblemError}, nothing. */
export function toProblemError(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const code = error instanceof IntentlockError ? error.code : undefined;
  if (code === "ERR_INVALID_TEXT") return new ProblemError("invalid_request", { detail: "a text cannot be stored" });
  return new ProblemError(code === "ERR_STORE" ? "unavailable" : "internal", { cause: error });
}
