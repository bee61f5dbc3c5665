import fc from "fast-check";
import { expect, test } from "vitest";
import { anOutbox, anOutcome, Chain, closed, EntryServer, QUICK } from "../../../test/fixtures/outbox-files.ts";
import { type ChainHead, verifyChain } from "../../core/index.ts";
import type { UploadBatch } from "./upload-batch.ts";

/** What somebody does: appends so many entries to a plan through one of two processes, waits, uploads, loses answers of the server. */
const anAction = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("append"),
      plan: fc.nat(2),
      by: fc.nat(1),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close plan"), plan: fc.nat(2), by: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("settle") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("flush"), by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose answers"), count: fc.nat(2) }) },
) as fc.Arbitrary<{ kind: string; plan: number; by: number; count: number }>;

test("what goes in comes out, per plan, in order and once, whoever writes when", { timeout: 600_000 }, async () => {
  const first = await anOutbox();
  const outboxes = [first, await anOutbox({ path: first.path })];
  const server = new EntryServer();
  let lost = 0;
  const send = async (batch: UploadBatch): Promise<string> => {
    const receipt = server.take(batch);
    if (lost-- > 0) throw new TypeError("fetch failed");
    return receipt;
  };
  const uploaders = outboxes.map((outbox) => outbox.startUpload({ ...QUICK, maxEntries: 3, send }));
  let run = 0;

  await fc.assert(
    fc.asyncProperty(fc.array(anAction, { minLength: 5, maxLength: 30 }), async (actions) => {
      run++;
      const chains = [0, 1, 2].map((plan) => new Chain(`plan-${run}-${plan}`));
      // The first two go to the server, the third stays here.
      for (const [plan, { head }] of chains.entries()) await first.begin({ planId: head.planId, upload: plan < 2 });
      // Of one process, appends follow on each other without waiting; whoever writes next to a plan waits for the other.
      let writers = [0, 0, 0];
      let writes: Promise<void>[] = [];
      const settle = async (): Promise<void> => {
        await Promise.all(writes);
        writes = [];
      };
      for (const { kind, plan, by, count } of actions) {
        const chain = chains[plan] as Chain;
        if (kind === "append" || kind === "close plan") {
          if (writers[plan] !== by) await settle();
          writers = writers.with(plan, by);
          const entries = kind === "append" ? chain.decisions(count) : chain.next(closed, anOutcome);
          writes.push((outboxes[by] as (typeof outboxes)[number]).append(entries, count % 2 ? chain.head : undefined));
        } else if (kind === "settle") await settle();
        else if (kind === "flush") await uploaders[by]?.flush({ timeoutMs: 60_000 });
        else lost = count;
      }
      await settle();
      await Promise.all(uploaders.map(async (uploader) => await uploader.flush({ timeoutMs: 60_000 })));
      const [one, two, local] = chains.map(({ head }) => head);
      for (const head of [one, two] as ChainHead[]) {
        expect(verifyChain(server.entries(head.planId), head.planId).head).toEqual(head);
      }
      const kept = await (outboxes[run % 2] as (typeof outboxes)[number]).entries(local?.planId ?? "");
      expect(verifyChain(kept, local?.planId ?? "").head).toEqual(local);
      expect([server.faults, server.entries(local?.planId ?? "")]).toEqual([[], []]);
    }),
    { numRuns: 60 },
  );
});
