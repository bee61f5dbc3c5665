import type { Serialized } from "@langchain/core/load/serializable";
import { IntentlockError } from "../../core/index.ts";
import { isAnnounced, isInsideTool } from "./gated-context.ts";
import { langchain } from "./langchain-core.ts";

// No other handler has this name: one of the same name would keep this one out.
const NAME = `intentlock_tripwire_${crypto.randomUUID()}`;
const Base: typeof langchain.BaseCallbackHandler = langchain.BaseCallbackHandler;

/** Refuses tools that start outside of a gate. Those that a locked tool calls itself are its implementation. */
class Tripwire extends Base {
  readonly name: string = NAME;
  isActive = true;

  constructor() {
    super({ raiseError: true });
  }

  override async handleToolStart(tool: Serialized): Promise<void> {
    if (this.isActive && !isAnnounced(tool) && !isInsideTool()) refuse();
  }

  /** A runnable that was made a tool starts no tool, but a chain whose first step has this name. */
  override async handleChainStart(
    ...parts: Parameters<NonNullable<InstanceType<typeof Base>["handleChainStart"]>>
  ): Promise<void> {
    const runName = parts[7];
    if (this.isActive && runName?.endsWith(":parse_input") && !isInsideTool()) refuse();
  }
}

function refuse(): never {
  throw new IntentlockError(
    "ERR_UNGATED_TOOLS",
    "A tool started outside of Intentlock's gate, and was stopped. Lock it with lockTools or intentlockMiddleware.",
  );
}

/** Stops every tool that starts outside of a gate from here on, in what this function calls. */
export function setTripwire(): { readonly remove: () => void } {
  const tripwire = new Tripwire();
  langchain.registerConfigureHook({ contextVar: NAME, inheritable: true });
  langchain.setContextVariable(NAME, tripwire);
  return {
    remove: () => {
      tripwire.isActive = false;
    },
  };
}

/**
 * A second line: from here on a tool of LangChain that starts outside of a gate is stopped, with an error, wherever in the
 * process and whatever its callbacks are. Call it at the top of the program, before servers and jobs are started: what
 * runs already keeps running without it. It does not see `tool.func()`, `tool._call()` and tools that are not made of
 * LangChain's classes, and it decides nothing: what a locked tool calls itself is the locked tool's own doing.
 *
 * @returns takes it away again
 *
 * @example
 * import { installTripwire } from "intentlock/langchain";
 *
 * installTripwire();
 */
export function installTripwire(): () => void {
  return setTripwire().remove;
}
