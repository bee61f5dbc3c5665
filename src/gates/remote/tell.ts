import { IntentlockError } from "../../core/index.ts";
import type { GateListener, GateTrouble } from "../gate.ts";
import { ServerError } from "./server-error.ts";

/** Tells a plan's listener, whose own trouble is nobody's. */
export function tell(listener: GateListener | undefined, trouble: GateTrouble): void {
  try {
    listener?.(trouble);
  } catch {
    // A decision does not depend on who listens.
  }
}

/** What programs know a failure by: the code of the server's problem, or that of the error. */
export function codeOf(error: unknown): string {
  const caused = error instanceof IntentlockError && error.cause instanceof ServerError ? error.cause : error;
  if (caused instanceof ServerError) return caused.problem?.code ?? caused.code;
  return caused instanceof IntentlockError ? caused.code : "ERR_INTERNAL";
}
