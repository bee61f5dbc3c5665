import { userInfo } from "node:os";
import { pino } from "pino";
import { createKeyRing } from "../server/create-key-ring.ts";
import type { ServerContext } from "../server/handler.ts";
import type { Store } from "../server/store/index.ts";
import { type CliIo, readEnv } from "./io.ts";

/** Where the server listens unless somebody says otherwise. */
export const DEFAULT_PORT = 4700;

/** What the server's own operations are called with: whoever may open the store may administer it. */
export interface Operator extends ServerContext {
  /** `cli:` and the name of the operating system's user: who the trail of administrators says it was. */
  readonly actor: string;
}

export function createOperator(store: Store, io: CliIo, publicUrl?: string): Operator {
  const url = publicUrl ?? readEnv(io, "INTENTLOCK_PUBLIC_URL") ?? `http://127.0.0.1:${DEFAULT_PORT}`;
  const clock = Date.now;
  return {
    store,
    clock,
    keys: createKeyRing({ store, clock }),
    log: pino({ level: "silent" }),
    publicUrl: url.replace(/\/+$/, ""),
    actor: `cli:${readUserName()}`,
  };
}

function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user's number may have no name.
    return String(process.getuid?.() ?? "unknown");
  }
}
