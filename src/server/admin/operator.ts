import { type Caller, ProblemError, type ServerContext } from "../handler.ts";
import type { AdminEvent, Store } from "../store/index.ts";

/** Who administers, and what: a person through the server, or the command line on the store itself. */
export interface Operator {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** For the audit trail: a person's e-mail, or `cli:` and the name of the system's user. */
  readonly actor: string;
}

/** @throws ProblemError `forbidden` for who is no administrator: the table lets nobody else in where this is used */
export function toOperator(caller: Caller, { store, clock }: Pick<ServerContext, "store" | "clock">): Operator {
  if (caller.kind !== "person" || !caller.person.roles.includes("admin")) throw new ProblemError("forbidden");
  return { store, clock, actor: caller.person.email };
}

/** What was done, for `adminAudit`. Details say what it became, and are never a secret. */
export function describeEvent(
  { actor }: Pick<Operator, "actor">,
  event: Pick<AdminEvent, "at" | "action" | "target"> & { readonly details?: AdminEvent["details"] },
): AdminEvent {
  return { actor, details: {}, ...event };
}
