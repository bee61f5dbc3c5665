import type { Session } from "../../session/index.ts";
import type { ClientTool } from "./coverage.ts";
import { lockOpaqueTool } from "./lock-opaque.ts";
import { isRunnableTool, lockRunnable } from "./lock-runnable.ts";
import { isStructuredTool, lockStructuredTool } from "./lock-structured.ts";

/** The tools that a session has locked, by what they were. */
interface Locks {
  readonly tools: WeakMap<object, object>;
  readonly names: Set<string>;
}

const locks = new WeakMap<Session, Locks>();

/** Whether this session has a locked tool of the name: no other of that name may run in its place. */
export function hasLocked(session: Session, name: string): boolean {
  return locks.get(session)?.names.has(name) === true;
}

/** The same tool, each of whose calls the session checks, on every way to its implementation. */
export function lockTool<T extends ClientTool>(tool: T, session: Session): T {
  const { tools, names } = locks.get(session) ?? beginLocks(session);
  const known = tools.get(tool);
  if (known) return known as T;
  const locked = lockAs(tool, session);
  names.add(tool.name);
  tools.set(tool, locked);
  // Locked twice by one session, a call would wait for itself.
  tools.set(locked, locked);
  return locked as T;
}

function beginLocks(session: Session): Locks {
  const none = { tools: new WeakMap<object, object>(), names: new Set<string>() };
  locks.set(session, none);
  return none;
}

function lockAs(tool: ClientTool, session: Session): object {
  const gate = { name: tool.name, tool, session };
  if (isStructuredTool(tool)) return lockStructuredTool(tool, gate);
  return isRunnableTool(tool) ? lockRunnable(tool, gate) : lockOpaqueTool(tool, gate);
}
