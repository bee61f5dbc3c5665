import { test } from "vitest";
import { describeStore } from "./store-conformance.ts";
import { createPostgresDatabase, createSqliteDatabase, POSTGRES_URL } from "./stores.ts";

describeStore("SQLite", createSqliteDatabase);

if (POSTGRES_URL === undefined) {
  console.warn("PostgreSQL is skipped: INTENTLOCK_TEST_DATABASE_URL is not set");
  test.skip("the store over PostgreSQL: INTENTLOCK_TEST_DATABASE_URL is not set", () => {});
} else {
  describeStore("PostgreSQL", createPostgresDatabase);
}
