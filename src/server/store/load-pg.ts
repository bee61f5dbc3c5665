import { IntentlockError } from "../../core/index.ts";

/** The PostgreSQL client, loaded when it is first needed. @throws IntentlockError `ERR_MISSING_PEER` */
export async function loadPg(): Promise<typeof import("pg")> {
  try {
    return await import("pg");
  } catch (cause) {
    throw new IntentlockError(
      "ERR_MISSING_PEER",
      'intentlock/server needs the package "pg" for PostgreSQL: npm install pg@^8.16.0',
      { cause },
    );
  }
}
