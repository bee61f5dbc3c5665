import {
  type Expression,
  type RawBuilder,
  type ReferenceExpression,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from "kysely";
import { IntentlockError } from "../../core/index.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./schema.ts";

/** A part of a list, newest first. */
export interface PageRequest {
  /** The last item of the page before. */
  readonly before?: { readonly createdAt: number; readonly id: string };
  /** 1 to 1000; 100 by default. */
  readonly limit?: number;
}

/** A part of a list that is in the order of names. */
export interface NameRange {
  /** The last name of the part before. */
  readonly after?: string;
  /** 1 to 1000. */
  readonly limit?: number;
}

/** A column of names in the order of their bytes, as SQLite has it: PostgreSQL's own order depends on its settings. */
export function inBytes({ kind }: Database, column: string): RawBuilder<string> {
  return kind === "postgres" ? sql<string>`${sql.ref(column)} COLLATE "C"` : sql<string>`${sql.ref(column)}`;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/**
 * Orders by `created_at` and `id` and takes one page. By the last item's values instead of by a number of rows: nothing
 * is skipped or shown twice while others write, and the last page costs what the first does.
 */
export function takePage<Table extends "plans" | "holds", Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { before, limit = DEFAULT_LIMIT }: PageRequest,
): SelectQueryBuilder<Tables, Table, Row> {
  const createdAt = "created_at" as ReferenceExpression<Tables, Table>;
  const id = "id" as ReferenceExpression<Tables, Table>;
  const page = query
    .orderBy(createdAt as never, "desc")
    .orderBy(id as never, "desc")
    .limit(checkLimit(limit));
  if (!before) return page;
  const isOlder: Expression<SqlBool> = sql<SqlBool>`(created_at, id) < (${before.createdAt}, ${before.id})`;
  return page.where(isOlder);
}

/** @throws IntentlockError `ERR_INVALID_OPTIONS` */
export function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new IntentlockError("ERR_INVALID_OPTIONS", `limit: expected a whole number from 1 to ${MAX_LIMIT}`);
}
