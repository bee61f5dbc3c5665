import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generateSigningKey } from "../../src/core/index.ts";
import { SCHEMA_VERSION } from "../../src/server/store/migrations.ts";
import { addPlan, BOB, NOW_MS } from "../store-builders.ts";
import type { CreateDatabase, TestDatabase } from "../stores.ts";

/** From an empty database on: the tables, the first key, the chain of what administrators do. */
export function describeOpening(createDatabase: CreateDatabase): void {
  describe("a database", () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createDatabase();
    });
    afterAll(() => database.drop());

    test("is made ready once by all that open it at once, and all of them work", async () => {
      const stores = await Promise.all(Array.from({ length: 6 }, () => database.open()));
      const keys = await Promise.all(stores.map(() => generateSigningKey()));
      const first = stores.map((store, index) =>
        store.signingKeys.addFirst({ key: keys[index]!, createdAt: NOW_MS, signsFrom: NOW_MS }),
      );
      expect((await Promise.all(first)).filter(Boolean)).toHaveLength(1);
      for (const store of stores) {
        await store.health();
        expect(await store.signingKeys.list()).toHaveLength(1);
      }
    });

    test("keeps what it has when it is opened again", async () => {
      const store = await database.open();
      const { id } = await addPlan(store);
      await store.close();
      expect(await (await database.open()).plans.get(id)).toMatchObject({ id, status: "open" });
    });

    test("answers no more when it is closed, and finishes what was begun", async () => {
      const store = await database.open();
      const hits = [store.rateLimits.hit("closing", 60, NOW_MS), store.rateLimits.hit("closing", 60, NOW_MS)];
      await store.close();
      expect((await Promise.all(hits)).sort()).toEqual([1, 2]);
      await expect(store.health()).rejects.toThrow();
    });

    test("rotates its keys with an overlap", async () => {
      const { signingKeys } = await database.open();
      const old = (await signingKeys.list())[0]!;
      const { key, signsFrom } = { key: await generateSigningKey(), signsFrom: NOW_MS + 1000 };
      const retireOthersAt = signsFrom + 900_000;
      expect(await signingKeys.rotate({ key, createdAt: NOW_MS, signsFrom }, { retireOthersAt })).toBe(true);
      const at = async (now: number): Promise<[string | undefined, number]> => [
        (await signingKeys.current(now))?.kid,
        (await signingKeys.published(now)).length,
      ];
      expect(await at(NOW_MS - 1)).toEqual([undefined, 2]);
      expect(await at(signsFrom - 1)).toEqual([old.kid, 2]);
      expect(await at(signsFrom)).toEqual([key.kid, 2]);
      expect(await at(retireOthersAt)).toEqual([key.kid, 1]);
      expect(await signingKeys.current(signsFrom)).toMatchObject({ ...key, createdAt: NOW_MS, retiredAt: null });
      expect(await signingKeys.retire(key.kid, signsFrom + 5)).toBe(true);
      expect(await at(signsFrom + 5)).toEqual([old.kid, 1]);
      expect(await signingKeys.retire("other", 0)).toBe(false);
      // Leaves a key that goes sooner as it is.
      const third = { key: await generateSigningKey(), createdAt: NOW_MS, signsFrom };
      await signingKeys.rotate(third, { retireOthersAt: retireOthersAt + 1 });
      const ends = (await signingKeys.list()).map(({ retiredAt }) => retiredAt);
      expect(ends).toEqual([retireOthersAt, signsFrom + 5, null]);
    });

    test.each<[string, string, { readonly seq: number; readonly what: string }]>([
      ["a text", "UPDATE admin_audit SET actor = 'eve' WHERE seq = 1", { seq: 1, what: "it was changed" }],
      ["details", "UPDATE admin_audit SET details = '{}' WHERE seq = 1", { seq: 1, what: "it was changed" }],
      ["a time", "UPDATE admin_audit SET at = at + 1 WHERE seq = 0", { seq: 0, what: "it was changed" }],
      ["what is no JSON", "UPDATE admin_audit SET details = '{' WHERE seq = 2", { seq: 2, what: "it is not an entry" }],
      ["a gap", "DELETE FROM admin_audit WHERE seq = 1", { seq: 1, what: "it is missing" }],
      ["a missing beginning", "DELETE FROM admin_audit WHERE seq = 0", { seq: 0, what: "it is missing" }],
      [
        "a link",
        "UPDATE admin_audit SET prev = NULL WHERE seq = 2",
        { seq: 2, what: "it does not follow from the entry before" },
      ],
    ])("whose trail of administrators was tampered with shows it: %s", async (_, sql, problem) => {
      await database.tamper("DELETE FROM admin_audit");
      const { adminAudit } = await database.open();
      expect(await adminAudit.verify()).toEqual({ count: 0, head: null });
      const event = { at: NOW_MS, actor: BOB, action: "agent.create", target: "x", details: { b: 1, a: [null, "é"] } };
      for (let index = 0; index < 3; index += 1) await adminAudit.append({ ...event, target: `${index}` });
      const entries = await adminAudit.list();
      expect(entries.map(({ seq, target }) => [seq, target])).toEqual([
        [2, "2"],
        [1, "1"],
        [0, "0"],
      ]);
      expect(await adminAudit.list({ before: 2, limit: 1 })).toEqual([entries[1]]);
      expect(await adminAudit.verify()).toEqual({ count: 3, head: entries[0]!.digest });
      await database.tamper(sql);
      expect(await adminAudit.verify()).toEqual({ problem });
    });

    test("of a newer version is not touched", async () => {
      await database.tamper(`UPDATE intentlock_schema SET version = ${SCHEMA_VERSION + 1}`);
      await expect(database.open()).rejects.toMatchObject({
        code: "ERR_STORE_UNUSABLE",
        message: expect.stringContaining(`version ${SCHEMA_VERSION + 1} of the tables`),
      });
    });
  });
}
