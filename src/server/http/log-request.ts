import type { Logger } from "pino";
import { IntentlockError } from "../../core/index.ts";
import type { Caller, ProblemError } from "../handler.ts";

/** What is logged of a request. Nothing of it was chosen by the client but `clientRequestId`, and its form is checked. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** As in the table of endpoints, without the parameters' values; undefined if there is none such. */
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly caller: Caller | undefined;
  readonly clientRequestId: string | null;
  readonly problem?: ProblemError;
}

/** Writes one line. Never a token, a key, an argument, a body or the text of an error that may quote one. */
export function logRequest(log: Logger, record: RequestRecord): void {
  const { requestId, method, route, status, durationMs, caller, clientRequestId, problem } = record;
  const line = {
    requestId,
    method,
    route: route ?? "none",
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(caller?.kind === "agent" && { agentId: caller.agent.id, keyId: caller.apiKey.id }),
    ...(caller?.kind === "person" && { person: caller.person.email }),
    ...(clientRequestId !== null && REQUEST_ID.test(clientRequestId) && { clientRequestId }),
    ...(problem && { code: problem.code }),
    ...(problem?.cause !== undefined && { error: describeError(problem.cause) }),
  };
  if (status >= 500) log.error(line, "request failed");
  else log.info(line, "request");
}

/** Of an answer that had begun: its line is written, and says that all went well. */
export function logBroken(
  log: Logger,
  { requestId, route, error }: Pick<RequestRecord, "requestId" | "route"> & { readonly error: unknown },
): void {
  log.error({ requestId, route, error: describeError(error) }, "answer broken off");
}

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** What is logged of an error. Messages that are not our own may quote what a client or the database wrote. */
export function describeError(error: unknown, depth = 0): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return {
    name: error.name,
    ...(code !== undefined && { code }),
    ...(error instanceof IntentlockError && { message: error.message }),
    stack: (error.stack ?? "")
      .split("\n")
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 20)
      .join("\n"),
    ...(error.cause !== undefined && depth < 3 && { cause: describeError(error.cause, depth + 1) }),
  };
}
