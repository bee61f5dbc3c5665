import type { endpoints } from "../core/api/index.ts";
import type { HandlersOf, ServerContext } from "./handler.ts";
import { createSystemHandlers } from "./system-handlers.ts";

/** The handlers of all endpoints, and what has to be done from time to time. */
export interface Handlers {
  readonly handlers: Partial<HandlersOf<typeof endpoints>>;
  sweep(): Promise<void>;
}

export function createHandlers(_context: ServerContext): Handlers {
  return { handlers: { ...createSystemHandlers() }, sweep: async () => {} };
}
