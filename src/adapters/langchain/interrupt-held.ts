import { AsyncLocalStorage } from "node:async_hooks";
import { IntentlockError } from "../../core/index.ts";
import type { RunResult, Session, SessionCall } from "../../session/index.ts";

/** What a graph is interrupted with while a call waits for a person. */
export interface HoldInterrupt {
  readonly type: "intentlock_hold";
  readonly holdId: string;
  readonly planId: string;
  readonly tool: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** What LangGraph adds to the configuration of a node, and of the tools that it calls. */
export interface GraphConfig {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined;
  /** Throws, or returns what the graph was resumed with: the values of a node in the order in which it asks for them. */
  readonly interrupt?: unknown;
}

type Interrupt = (value: unknown) => unknown;

/** The interrupts of calls that wait or have waited, by the call: what they were resumed with is no answer to a tool. */
const interrupts = new WeakMap<Session, Map<string, number>>();

/** A call that a middleware hands on, and what it interrupted the graph with when it was made last. */
interface HandedOn {
  readonly session: Session;
  readonly callId: string | undefined;
  thrown?: unknown;
}

const handedOn = new AsyncLocalStorage<HandedOn>();

/**
 * Hands a call on to whoever makes it in the end. If a person has to approve it, the graph is interrupted whatever others
 * on the way make of that: there are middleware that take an interrupt for a failure, retry it, and go on without it.
 *
 * @throws what LangGraph's `interrupt()` threw, or what `work` throws
 */
export async function keepInterrupt<T>(
  call: Pick<HandedOn, "session" | "callId">,
  work: () => T | Promise<T>,
): Promise<T> {
  // Nothing is interrupted: one context less for every call.
  if (call.session.onHold === "wait") return await work();
  const entry: HandedOn = { ...call };
  const rethrow = (): void => {
    if (entry.thrown !== undefined) throw entry.thrown;
  };
  try {
    const result = await handedOn.run(entry, work);
    rethrow();
    return result;
  } catch (error) {
    rethrow();
    throw error;
  }
}

/** More values than anybody resumes one node with. */
const MAX_VALUES = 1000;

/**
 * Makes a call, and interrupts the graph if a person has to approve it. What the graph is resumed with says nothing: it
 * makes the call be made, and so checked, again.
 *
 * @param attempt makes the call
 * @throws IntentlockError `ERR_INVALID_OPTIONS` for a held call that nothing can interrupt, before a person is asked; what
 * LangGraph's `interrupt()` throws
 */
export async function interruptIfHeld<T>(
  { session, call, config }: { readonly session: Session; readonly call: SessionCall; readonly config: GraphConfig },
  attempt: () => Promise<RunResult<T>>,
): Promise<RunResult<T>> {
  const interrupt = findInterrupt(config);
  const entry = handedOn.getStore();
  const own = entry?.session === session && entry.callId === call.callId ? entry : undefined;
  if (own) own.thrown = undefined;
  if (!interrupt) {
    if ((await session.peek(call)).verdict === "hold") throw cannotInterrupt();
    return await attempt();
  }
  const known = interrupts.get(session) ?? new Map<string, number>();
  interrupts.set(session, known);
  const key = JSON.stringify([call.replayKey, call.callId, call.tool]);
  const earlier = known.get(key);
  let taken = take(earlier ?? (await countUnknown(session, call, config)), interrupt);
  if (earlier === undefined && taken > 0) known.set(key, taken);
  let result = await attempt();
  while (result.isError && result.hold && taken < MAX_VALUES) {
    known.set(key, ++taken);
    try {
      interrupt(toValue(session, call, result.hold));
    } catch (thrown) {
      if (own) own.thrown = thrown;
      throw thrown;
    }
    result = await attempt();
  }
  return result;
}

/** Whether a graph that works on this configuration can be interrupted. */
export function canInterrupt(config: GraphConfig | undefined): boolean {
  return config !== undefined && findInterrupt(config) !== undefined;
}

export function cannotInterrupt(): IntentlockError {
  return new IntentlockError(
    "ERR_INVALID_OPTIONS",
    'onHold: a call that waits for a person interrupts its graph, which needs a checkpointer: createAgent({ checkpointer }) or graph.compile({ checkpointer }). Outside of a graph, take onHold: "wait".',
  );
}

function findInterrupt({ interrupt, configurable }: GraphConfig): Interrupt | undefined {
  if (typeof interrupt !== "function" || !configurable?.["__pregel_checkpointer"]) return undefined;
  return interrupt as Interrupt;
}

/** In another process, all that the graph was resumed with so far was for the hold: a tool that had asked asks again. */
async function countUnknown(session: Session, call: SessionCall, { configurable }: GraphConfig): Promise<number> {
  const pad = configurable?.["__pregel_scratchpad"] as { readonly resume?: unknown; readonly nullResume?: unknown };
  const isEmpty = Array.isArray(pad?.resume) && pad.resume.length === 0 && pad.nullResume === undefined;
  if (isEmpty) return 0;
  return (await session.peek(call)).verdict === "hold" ? MAX_VALUES : 0;
}

/** Takes the values that were given to earlier interrupts, as far as there are any, so that the tool does not get them. */
function take(count: number, interrupt: Interrupt): number {
  for (let taken = 0; taken < count; taken++) {
    try {
      interrupt(undefined);
    } catch {
      return taken;
    }
  }
  return count;
}

function toValue(
  session: Session,
  { tool }: SessionCall,
  { holdId, expiresAt }: Pick<HoldInterrupt, "holdId" | "expiresAt">,
): HoldInterrupt {
  return { type: "intentlock_hold", holdId, planId: session.planId, tool, expiresAt };
}
