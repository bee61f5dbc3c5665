import { endpoints, type HoldAnswer, MAX_WAIT_SECONDS } from "../../core/api/index.ts";
import type { HoldResolution, OpenedHold } from "../gate.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError, toRefusal } from "./server-error.ts";
import { sleep } from "./sleep.ts";

/** A held call whose decision the server has. */
export interface HeldCall {
  readonly planId: string;
  readonly decisionSeq: number;
  readonly args: unknown;
}

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** The longest wait for a person. */
  readonly timeoutMs: number;
}

/** One request waits this long: proxies give up on longer ones. */
const WAIT_SECONDS = Math.min(25, MAX_WAIT_SECONDS);
/** How long a request may take beside the wait. */
const GRACE_MS = 10_000;
const RETRY_MS = { first: 250, most: 5000 };

/**
 * Asks for a person about a held call: with a wait, for as long as that may take. A server that restarts while it answers
 * may have the hold, and gives the same one again.
 *
 * @throws the signal's reason if it is aborted
 */
export async function openHold(client: ServerClient, call: HeldCall, wait?: WaitOptions): Promise<OpenedHold> {
  const ask = { body: call, signal: wait?.signal, isRepeatable: true };
  try {
    const { holdId, expiresAt } = wait
      ? await askUntil(performance.now() + wait.timeoutMs, wait.signal, () => client.ask(endpoints.openHold, ask))
      : await client.ask(endpoints.openHold, ask);
    return { status: "pending", holdId, expiresAt };
  } catch (error) {
    wait?.signal?.throwIfAborted();
    return toResolution(error);
  }
}

/** Waits for what becomes of a hold. @throws the signal's reason if it is aborted */
export async function awaitHold(
  client: ServerClient,
  holdId: string,
  { signal, timeoutMs }: WaitOptions,
): Promise<HoldResolution> {
  const deadline = performance.now() + timeoutMs;
  try {
    while (true) {
      const answer = await askUntil(deadline, signal, () => {
        const waitSeconds = Math.max(0, Math.min(WAIT_SECONDS, Math.floor((deadline - performance.now()) / 1000)));
        const timeoutMs = waitSeconds * 1000 + GRACE_MS;
        return client.ask(endpoints.getHold, { params: { holdId }, query: { waitSeconds }, signal, timeoutMs });
      });
      if (answer.status !== "pending") return readAnswer(answer);
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return { status: "timeout" };
      // Less than a second is left, for which the server does not wait.
      if (leftMs < 1000) await sleep(leftMs, signal);
    }
  } catch (error) {
    signal?.throwIfAborted();
    return toResolution(error);
  }
}

/** Asks a server that may be restarting until it answers, or until no time is left. @throws what `ask` throws last */
async function askUntil<Answer>(
  deadline: number,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      const pauseMs = Math.min(RETRY_MS.first * 2 ** failures, RETRY_MS.most);
      if (!isUnavailable(error) || performance.now() + pauseMs >= deadline) throw error;
      await sleep(pauseMs * (0.5 + Math.random() / 2), signal);
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ServerError && error.code === "ERR_SERVER_UNAVAILABLE";
}

/** What has become of a hold by now. One that still waits, or that cannot be asked about, is not over. */
export async function lookAtHold(
  client: ServerClient,
  holdId: string,
): Promise<{ readonly opened: OpenedHold; readonly isOver: boolean }> {
  try {
    const answer = await client.ask(endpoints.getHold, { params: { holdId }, query: {}, isRepeatable: true });
    const { status, expiresAt } = answer;
    if (status === "pending") return { opened: { status, holdId, expiresAt }, isOver: false };
    const resolution = readAnswer(answer);
    if (resolution.status !== "timeout") return { opened: resolution, isOver: true };
    const detail = "nobody decided in time";
    return { opened: { status: "blocked", reason: "hold_timeout", detail }, isOver: true };
  } catch (error) {
    return { opened: toResolution(error), isOver: false };
  }
}

function readAnswer(answer: HoldAnswer): HoldResolution {
  switch (answer.status) {
    case "approved": {
      const { approval, approvedBy } = answer;
      // Of a plan there is none: it is signed by a refresh.
      return { status: "approved", approval: approval ?? "", approvedBy };
    }
    case "rejected":
      return { status: "rejected", ...(answer.comment !== undefined && { comment: answer.comment }) };
    case "cancelled":
      return { status: "blocked", reason: "plan_revoked", detail: "the plan was revoked or closed" };
    case "expired":
    case "pending":
      return { status: "timeout" };
    default:
      answer satisfies never;
      return { status: "timeout" };
  }
}

function toResolution(error: unknown): Extract<HoldResolution, { status: "rejected" | "blocked" }> {
  const code = error instanceof ServerError ? error.problem?.code : undefined;
  if (code === "hold_rejected_before") return { status: "rejected" };
  if (code === "hold_limit") {
    return { status: "blocked", reason: "gate_rejected", detail: "the plan has asked people too often" };
  }
  const { reason, detail } = toRefusal(error);
  return { status: "blocked", reason, detail };
}
