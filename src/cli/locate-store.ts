import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { openStore, type Store, type StoreOptions } from "../server/store/index.ts";
import { CliError, usageError } from "./exit-codes.ts";
import { type CliIo, readEnv } from "./io.ts";

/** Where the server's store is. */
export interface StoreLocation {
  readonly options: StoreOptions;
  /** For people: without a password. */
  readonly shown: string;
}

const DEFAULT_FILE = ".intentlock/intentlock.db";

/**
 * The store that is meant: what `--database` names (a file, or a PostgreSQL URL), or DATABASE_URL, or the SQLite file
 * in `./.intentlock/`.
 *
 * @throws CliError `ERR_USAGE` for a URL of something else
 */
export function locateStore(database: string | undefined, io: CliIo): StoreLocation {
  const given = database ?? readEnv(io, "DATABASE_URL");
  if (given !== undefined && /^postgres(?:ql)?:\/\//.test(given)) {
    return { options: { postgres: given }, shown: showUrl(given) };
  }
  const name = database === undefined ? "DATABASE_URL" : "--database";
  // Not the text itself: it may hold a password.
  if (given !== undefined && (database === undefined || /^[a-z][a-z0-9+.-]+:\/\//i.test(given))) {
    throw usageError(`${name} is no PostgreSQL URL: it has to begin with postgres://`);
  }
  if (given === "") throw usageError("--database is empty: give a file or a PostgreSQL URL");
  const file = resolve(io.cwd, given ?? DEFAULT_FILE);
  return { options: { sqlite: file }, shown: file };
}

/**
 * Opens the store, works with it and closes it, whatever comes of it.
 *
 * @param location.mustExist a SQLite file that is not there is not made: a list of nothing would hide that it is the
 * wrong folder
 * @throws CliError `ERR_NO_STORE`; IntentlockError `ERR_STORE_UNUSABLE`, `ERR_MISSING_PEER`
 */
export async function withStore<T>(
  { options, shown, mustExist }: StoreLocation & { readonly mustExist: boolean },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  if (mustExist && "sqlite" in options && !existsSync(options.sqlite)) {
    throw new CliError(
      "ERR_NO_STORE",
      `There is no database at ${shown}.\nRun this where the server runs, or say where it is: --database FILE, or DATABASE_URL for PostgreSQL.`,
    );
  }
  const store = await openStore(options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function showUrl(url: string): string {
  if (!URL.canParse(url)) return "PostgreSQL";
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
