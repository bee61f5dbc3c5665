import { isJsonObject, type Json } from "../../core/index.ts";
import type { PendingHold, Session, SessionCall } from "../../session/index.ts";
import { type CallOrigin, nameOrigin } from "./suspended-calls.ts";
import { listHolders, type ToolContext } from "./tool-context.ts";

/** What a call is suspended with while it waits for a person. */
export interface HoldSuspension {
  readonly type: "intentlock_hold";
  readonly holdId: string;
  readonly planId: string;
  readonly tool: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** The calls that wait for a person, by what Mastra knows them by. Only a hold puts one here. */
const heldCalls = new WeakMap<Session, Set<string>>();

/**
 * Whether a call that Mastra resumes was suspended because a person has to approve it. In another process than the one that
 * suspended it, that is so if the gate holds it now. It is made, and so checked, again: nothing more comes of the answer.
 */
export async function isHeld(session: Session, origin: CallOrigin, call: SessionCall): Promise<boolean> {
  if (session.onHold !== "suspend") return false;
  if (wasHeld(session, origin)) return true;
  return (await session.peek(call)).verdict === "hold";
}

/** Whether this process has suspended the call because a person has to approve it. */
export function wasHeld(session: Session, origin: CallOrigin): boolean {
  return heldCalls.get(session)?.has(nameOrigin(origin) ?? "") === true;
}

export function forgetHeld(session: Session, origin: CallOrigin): void {
  heldCalls.get(session)?.delete(nameOrigin(origin) ?? "");
}

/**
 * Suspends a call in Mastra's own way.
 *
 * @returns what ends the call; undefined where Mastra has no way to suspend it
 */
export function suspendHeld(
  {
    session,
    name,
    context,
  }: { readonly session: Session; readonly name: string; readonly context: ToolContext | undefined },
  origin: CallOrigin,
  { holdId, expiresAt }: PendingHold,
): { readonly ending: unknown } | undefined {
  const holder = listHolders(context).findLast(({ suspend }) => typeof suspend === "function");
  if (!holder?.suspend) return undefined;
  const key = nameOrigin(origin);
  const calls = heldCalls.get(session) ?? new Set<string>();
  if (key !== undefined) heldCalls.set(session, calls.add(key));
  const { planId } = session;
  const payload: HoldSuspension = { type: "intentlock_hold", holdId, planId, tool: name, expiresAt };
  return { ending: holder.suspend(payload) };
}

/** Whether the application says that the call is not to be made any more. That is heeded: it allows nothing. */
export function isDeclined(context: ToolContext | undefined): boolean {
  return listHolders(context).some(
    ({ resumeData }) => isJsonObject(resumeData as Json) && (resumeData as { approved?: unknown }).approved === false,
  );
}

/** The tool does not get the answer to a hold: it has asked nothing. In place: Mastra knows a context by its identity. */
export function takeAnswer(context: ToolContext | undefined): void {
  for (const holder of listHolders(context)) if (holder.resumeData !== undefined) holder.resumeData = undefined;
}
