import { missingPeer } from "../../session/setup-errors.ts";

/** What is used of `@mastra/core`. */
interface Mastra {
  readonly Agent: typeof import("@mastra/core/agent").Agent;
  readonly createTool: typeof import("@mastra/core/tools").createTool;
}

/** Mastra, loaded when it is first needed. @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
export async function loadMastra(): Promise<Mastra> {
  try {
    const [{ Agent }, { createTool }] = await Promise.all([import("@mastra/core/agent"), import("@mastra/core/tools")]);
    return { Agent, createTool };
  } catch (cause) {
    throw missingPeer("mastra", "@mastra/core", "^1", cause);
  }
}
