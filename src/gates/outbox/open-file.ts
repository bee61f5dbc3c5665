import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** `ILOB`: says of an SQLite file that it is an outbox. */
const APPLICATION_ID = 0x494c4f42;
const SCHEMA_VERSION = 1;

/**
 * `entries` is a table with row ids and an index beside it, not one that is ordered by plan: entries of many plans at
 * once are then written to the same few pages, one after the other.
 */
const SCHEMA = `
  CREATE TABLE plans (
    id INTEGER PRIMARY KEY,
    plan_id TEXT NOT NULL UNIQUE,
    upload INTEGER NOT NULL,
    target TEXT NOT NULL,
    client_key TEXT,
    state TEXT,
    created_at INTEGER NOT NULL,
    closed INTEGER NOT NULL DEFAULT 0,
    -- Entries below this number are with the server; uploaded_head is the digest of the last of them.
    uploaded INTEGER NOT NULL DEFAULT 0,
    uploaded_head TEXT,
    receipt TEXT,
    -- Why the server refuses the plan's entries for good.
    refused TEXT,
    -- Since when everything is uploaded and the plan closed.
    done_at INTEGER,
    -- Entries below this number were removed; base_head is the digest of the last of them.
    base_seq INTEGER NOT NULL DEFAULT 0,
    base_head TEXT,
    tried_at INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_host TEXT,
    lease_pid INTEGER,
    lease_until INTEGER
  ) STRICT;
  CREATE INDEX plans_to_upload ON plans (target, tried_at) WHERE upload = 1 AND done_at IS NULL AND refused IS NULL;
  CREATE INDEX plans_to_sweep ON plans (done_at) WHERE done_at IS NOT NULL AND base_seq < uploaded;
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plans (id),
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (plan, seq)
  ) STRICT;
  CREATE TABLE backlog (one INTEGER PRIMARY KEY CHECK (one = 1), waiting INTEGER NOT NULL) STRICT;
  INSERT INTO backlog VALUES (1, 0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

const LIST_TABLES = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";

/** Past this size a file is not read through when it is opened. */
const MAX_CHECKED_PAGES = 65_536;

/**
 * Opens an outbox file, or makes one that only its owner can read: plans' keys and arguments of calls are in it.
 *
 * @throws Error that says what is wrong with the file, and what to do
 */
export function openFile(path: string, { busyTimeoutMs }: { readonly busyTimeoutMs: number }): DatabaseSync {
  createFile(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    prepareFile(database, path);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof UnusableFile) throw error;
    throw explainTrouble(error, path);
  }
}

function createFile(path: string): void {
  const folder = dirname(path);
  try {
    const created = mkdirSync(folder, { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "a", 0o600));
    // The file's name has to survive a power loss too, and that of its folder.
    syncFolder(folder);
    if (created !== undefined) syncFolder(dirname(created));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UnusableFile(`The outbox file cannot be written (${why}): give a path in a folder of this user`);
  }
}

function syncFolder(folder: string): void {
  // A folder cannot be opened on Windows, and needs no sync there.
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function prepareFile(database: DatabaseSync, path: string): void {
  checkKind(database, path);
  database.exec("PRAGMA journal_mode = WAL");
  // Each commit is on the disk before it is answered. On macOS a plain fsync leaves it in the disk's own cache.
  database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");
  // The store checkpoints after it has answered, never in a commit that somebody waits for.
  database.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864");
  const mode = readPragma(database, "journal_mode");
  if (mode !== "wal" || readPragma(database, "synchronous") !== 2) {
    throw new UnusableFile(`The outbox file ${path} cannot be made durable: it has to be on a local disk`);
  }
  database.exec("BEGIN IMMEDIATE");
  try {
    if (checkKind(database, path) === "empty") database.exec(SCHEMA);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
  checkPages(database, path);
  checkTables(database, path);
}

function checkKind(database: DatabaseSync, path: string): "empty" | "outbox" {
  const id = readPragma(database, "application_id");
  const version = readPragma(database, "user_version");
  if (id === 0 && version === 0 && readPragma(database, "schema_version") === 0) return "empty";
  if (id !== APPLICATION_ID) {
    throw new UnusableFile(`${path} is another program's database, not an outbox: give another path`);
  }
  if (version !== SCHEMA_VERSION) {
    throw new UnusableFile(
      `The outbox file ${path} has schema version ${version}, and this version of intentlock reads ${SCHEMA_VERSION}: ` +
        "upload what is in it with the version that wrote it, or give another path",
    );
  }
  return "outbox";
}

function checkPages(database: DatabaseSync, path: string): void {
  if (Number(readPragma(database, "page_count")) > MAX_CHECKED_PAGES) return;
  const problem = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (problem !== "ok") throw damaged(path, String(problem).replaceAll("\n", " "));
}

/** A trigger or a view in the file would run with our statements. */
function checkTables(database: DatabaseSync, path: string): void {
  const empty = new DatabaseSync(":memory:");
  empty.exec(SCHEMA);
  const [expected, found] = [empty, database].map((file) => JSON.stringify(file.prepare(LIST_TABLES).all()));
  empty.close();
  if (found !== expected) throw damaged(path, "its tables are not those of an outbox");
}

function readPragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

/** Says of an outbox file, in words for people, why it cannot be used. */
export class UnusableFile extends Error {}

function damaged(path: string, why: string): UnusableFile {
  return new UnusableFile(
    `The outbox file ${path} is damaged (${why}): move it and its -wal file away, keep them for what can be read, and start again`,
  );
}

function explainTrouble(error: unknown, path: string): UnusableFile {
  const { message, errcode } = error as { message?: string; errcode?: number };
  switch ((errcode ?? 0) & 0xff) {
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return damaged(path, message ?? "not an SQLite file");
    case 5: // SQLITE_BUSY
      return new UnusableFile(`The outbox file ${path} is locked by another process: end it, or give another path`);
    case 13: // SQLITE_FULL
      return new UnusableFile(`The disk of the outbox file ${path} is full: make room`);
    default:
      return new UnusableFile(
        `The outbox file ${path} cannot be written (${message ?? String(error)}): give a path in a folder of this user`,
      );
  }
}
