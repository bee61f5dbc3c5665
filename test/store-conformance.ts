import { afterAll, beforeAll, describe } from "vitest";
import { describeAdminister } from "./store-conformance/administer.ts";
import { describeConcurrency } from "./store-conformance/concurrency.ts";
import { describeHistory } from "./store-conformance/history.ts";
import { describeHolds } from "./store-conformance/holds.ts";
import { describeHostile } from "./store-conformance/hostile.ts";
import { describeOpening } from "./store-conformance/opening.ts";
import { describePlans } from "./store-conformance/plans.ts";
import { describePrincipalLedgers } from "./store-conformance/principal-ledgers.ts";
import { describeRegistry } from "./store-conformance/registry.ts";
import type { CreateDatabase, TestDatabase } from "./stores.ts";

/** What every store does, whichever database it stands on. */
export function describeStore(name: string, createDatabase: CreateDatabase): void {
  describe(`the store over ${name}`, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createDatabase();
    });
    afterAll(() => database.drop());

    const open = (): ReturnType<TestDatabase["open"]> => database.open();
    describePlans(open);
    describePrincipalLedgers(() => database);
    describeHolds(open);
    describeHistory(open);
    describeRegistry(open);
    describeAdminister(open);
    describeHostile(open);
    describeConcurrency(open);
    describeOpening(createDatabase);
  });
}
