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

interface Mark {
  readonly outside: unknown;
  of?: object;
}

interface MarkedContext {
  readonly [before]?: Mark;
}

/** Calls tools for a model: those that are not locked are stopped, and nothing outside of this work notices. */
export function runWithTripwire<T>(work: () => T): T {
  const context = langchain.AsyncLocalStorageProviderSingleton.getInstance();
  const mark: Mark = { outside: context.getStore() };
  const inside = withTripwire(mark);
  mark.of = inside;
  return context.run(inside as never, () => runOutsideTools(work)) as T;
}

/** What LangChain's context is with a tripwire alone: where it keeps such things is known to LangChain only. */
interface Alone {
  readonly context: object;
  readonly keys: readonly PropertyKey[];
}
let alone: Alone | undefined;

function findAlone(): Alone {
  const context = setApart(undefined);
  return { context, keys: Reflect.ownKeys(context) };
}

/** A context as LangChain would make it of this one: for every call, so without making a run of it once per variable. */
function withTripwire(mark: Mark): object {
  const { outside } = mark;
  alone ??= findAlone();
  if (typeof outside !== "object" || outside === null) return { ...alone.context, [before]: mark };
  const isTaken = alone.keys.some((key) => Reflect.get(outside, key) !== undefined);
  if (isTaken) return Object.assign(setApart(outside), { [before]: mark });
  return overlay(outside, { ...alone.context, [before]: mark });
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
