import type { ModelMessage } from "ai";
import { IntentlockError } from "../core/index.ts";
import { describeThrown } from "../session/describe-thrown.ts";

/** Where a run was when its model failed. */
export interface RunTrail {
  /** Of the plan, once it is signed. */
  readonly planId?: string | undefined;
  /** What the model was told, once the plan is signed: the task, its own answers, and the results of its calls. */
  readonly messages?: readonly ModelMessage[] | undefined;
}

export interface ProviderFailure {
  readonly status: number | null;
  readonly retryable: boolean;
  /** What happened, in the words of the provider or the network. */
  readonly detail: string;
}

/** A model failed, or the way to it: the SDK has made its two retries, and whether to run again is the caller's choice. */
export class ProviderError extends IntentlockError implements RunTrail, Pick<ProviderFailure, "status" | "retryable"> {
  /** Which provider, in its own words, such as `anthropic.messages`. */
  readonly provider: string;
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** Whether the same may work later: a network error, or status 408, 409, 429 or 5xx. */
  readonly retryable: boolean;
  readonly planId: string | undefined;
  readonly messages: readonly ModelMessage[] | undefined;

  constructor(
    provider: string,
    { status, retryable, detail }: ProviderFailure,
    { planId, messages, cause }: RunTrail & { readonly cause?: unknown } = {},
  ) {
    super("ERR_PROVIDER", `${provider} ${status === null ? "failed" : `answered ${status}`}: ${detail}`, { cause });
    this.provider = provider;
    this.status = status;
    this.retryable = retryable;
    this.planId = planId;
    this.messages = messages;
  }
}

/** What is used of an error of the SDK, or of whoever has made the model. */
interface SdkError {
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  /** Of an error that the SDK makes of several attempts. */
  readonly lastError?: unknown;
}

const MAX_DETAIL = 500;

export function describeFailure(error: unknown): ProviderFailure {
  const last = lastOf(error);
  const { statusCode, isRetryable } = (typeof last === "object" && last !== null ? last : {}) as SdkError;
  const detail = describeThrown(last).slice(0, MAX_DETAIL);
  const status = typeof statusCode === "number" ? statusCode : null;
  // An answer that began well and broke off is a network error too: the SDK calls it retryable, which no status below 400 is.
  const broke = (status === null || status < 400) && (isRetryable === true || isUnanswered(last));
  if (broke) return { status: null, retryable: true, detail };
  return { status, retryable: status !== null && isTemporary(status), detail };
}

/** The error of the last attempt. */
export function lastOf(error: unknown): unknown {
  return (error as SdkError | null | undefined)?.lastError ?? error;
}

function isTemporary(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** A request that was given up, by the model's own `fetch`: the SDK throws it as it is. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && ["AbortError", "TimeoutError", "ResponseAborted"].includes(error.name);
}
