import { ADAPTERS, GUARD } from "./adapters.ts";
import { CORE } from "./core.ts";
import type { Fault } from "./fault.ts";
import { GATES } from "./gates.ts";
import { SERVER } from "./server.ts";
import { SESSION } from "./session.ts";

/** All of them, by what they are in. */
export const AREAS: Readonly<Record<string, readonly Fault[]>> = {
  "The decision": CORE,
  Sessions: SESSION,
  Gates: GATES,
  "The server": SERVER,
  Adapters: ADAPTERS,
  "The guard": GUARD,
};

export const FAULTS: readonly Fault[] = Object.values(AREAS).flat();
