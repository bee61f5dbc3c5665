import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/**
 * Opens a file, or a database in memory (`:memory:`). What is not there yet is made for its owner alone: the folder
 * with 0700, the file with 0600; SQLite gives its companions (`-wal`, `-shm`) the mode of the file.
 */
export function openSqliteFile(path: string): DatabaseSync {
  // The whole path, because SQLite takes what begins with `file:` for a URL with options in it.
  const file = path === ":memory:" ? path : resolve(path);
  if (file !== ":memory:") {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "a", 0o600));
  }
  const { DatabaseSync } = loadSqlite();
  return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
}

/** How long SQLite itself waits for another process: the event loop stands still meanwhile, so it is short. */
const BUSY_TIMEOUT_MS = 5;

/** `node:sqlite` without the warning that it is experimental, which Node.js 22 shows to whoever starts the server. */
function loadSqlite(): typeof import("node:sqlite") {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes("SQLite is an experimental feature"))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
