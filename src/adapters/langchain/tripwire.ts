import type { Serialized } from "@langchain/core/load/serializable";
import { IntentlockError } from "../../core/index.ts";
import { isGated, runOutsideTools } from "./gated-context.ts";
import { langchain } from "./langchain-core.ts";
import { overlay } from "./overlay.ts";

const Base: typeof langchain.BaseCallbackHandler = langchain.BaseCallbackHandler;

/** Refuses tools that start outside of a gate. Those that a locked tool calls itself are its implementation. */
class Tripwire extends Base {
  // Nobody else has this name: a handler of the same name would keep this one out.
  readonly name: string = `intentlock_tripwire_${crypto.randomUUID()}`;
  isActive = true;

  constructor() {
    super({ raiseError: true });
  }

  override async handleToolStart(tool: Serialized): Promise<void> {
    if (this.isActive && !isGated(tool)) refuse();
  }

  /** A runnable that was made a tool starts no tool, but a chain whose first step has this name. */
  override async handleChainStart(
    ...parts: Parameters<NonNullable<InstanceType<typeof Base>["handleChainStart"]>>
  ): Promise<void> {
    const runName = parts[7];
    if (this.isActive && runName?.endsWith(":parse_input") && !isGated()) refuse();
  }
}

const trips = new WeakSet<object>();

function refuse(): never {
  const error = new IntentlockError(
    "ERR_UNGATED_TOOLS",
    "A tool started outside of Intentlock's gate, and was stopped. Lock it with lockTools or intentlockMiddleware.",
  );
  trips.add(error);
  throw error;
}

/** Sets a tripwire for what is called after this in the same asynchronous context. */
function setTripwire(tripwire: Tripwire): void {
  langchain.registerConfigureHook({ contextVar: tripwire.name, inheritable: true });
  langchain.setContextVariable(tripwire.name, tripwire);
}

const perCall = new Tripwire();
/** In a context with a tripwire: LangChain's own as it was before. A copy that somebody makes has the mark of another. */
const before = Symbol("before the tripwire");

interface MarkedContext {
  [before]?: { readonly outside: unknown; readonly of: object };
}

/** Calls tools for a model: those that are not locked are stopped, and nothing outside of this work notices. */
export function runWithTripwire<T>(work: () => T): T {
  const context = langchain.AsyncLocalStorageProviderSingleton.getInstance();
  const outside: unknown = context.getStore();
  const inside: MarkedContext & object = withTripwire(outside);
  inside[before] = { outside, of: inside };
  return context.run(inside as never, () => runOutsideTools(work)) as T;
}

/** What LangChain's context is with a tripwire alone: where it keeps such things is known to LangChain only. */
let alone: object | undefined;

/** A context as LangChain would make it of this one: for every call, so without making a run of it once per variable. */
function withTripwire(outside: unknown): object {
  alone ??= setApart(undefined);
  const has = (key: PropertyKey): boolean => Reflect.get(outside as object, key) !== undefined;
  if (typeof outside !== "object" || outside === null) return { ...alone };
  return Reflect.ownKeys(alone).some(has) ? setApart(outside) : overlay(outside, alone);
}

function setApart(outside: unknown): object {
  const context = langchain.AsyncLocalStorageProviderSingleton.getInstance();
  return context.run(outside as never, () => {
    setTripwire(perCall);
    return context.getStore() as object;
  }) as object;
}

/** Runs a locked tool without the tripwire around it, unless somebody else has changed the context since. */
export function runWithoutTripwire<T>(work: () => T): T {
  const context = langchain.AsyncLocalStorageProviderSingleton.getInstance();
  const inside = context.getStore() as (MarkedContext & object) | undefined;
  const mark = inside?.[before];
  if (!mark || mark.of !== inside) return work();
  return context.run(mark.outside as never, work as never) as T;
}

/** Whether it was a tripwire that stopped a tool. */
export function isTripped(error: unknown): boolean {
  return typeof error === "object" && error !== null && trips.has(error);
}

/**
 * A second line: from here on a tool of LangChain that starts outside of a gate is stopped, with an error, whatever its
 * callbacks are. Call it at the top of the program, before servers and jobs are started: LangChain keeps such hooks in the
 * asynchronous context, and what was started before does not have it. It does not see `tool.func()`, `tool._call()` and
 * tools that are not made of LangChain's classes, and it decides nothing: what a locked tool calls itself is the locked
 * tool's own doing.
 *
 * @returns takes it away again
 *
 * @example
 * import { installTripwire } from "intentlock/langchain";
 *
 * installTripwire();
 */
export function installTripwire(): () => void {
  const tripwire = new Tripwire();
  setTripwire(tripwire);
  return () => {
    tripwire.isActive = false;
  };
}
