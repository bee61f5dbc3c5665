import { expect, test } from "vitest";
import { anOutbox, Chain } from "../../../test/fixtures/outbox-files.ts";
import { digestEntry } from "../../core/index.ts";
import { readOutboxPlans } from "./outbox-plans.ts";

test("the plans of a file that is written to have the end that goes with their entries", async () => {
  const outbox = await anOutbox();
  const [one, two] = [new Chain("plan-1"), new Chain("plan-2")];
  await outbox.append(one.decisions(1));
  await outbox.append(two.decisions(1));
  const reading = readOutboxPlans(outbox.path);
  const { value: first } = reading.next();
  await outbox.append(one.decisions(1));
  await outbox.append(two.decisions(2));
  const { value: second } = reading.next();
  expect([first, second]).toMatchObject([{ planId: "plan-1" }, { planId: "plan-2" }]);
  expect([first?.entries.length, second?.entries.length]).toEqual([1, 3]);
  for (const plan of [first, second]) {
    const last = plan?.entries.at(-1);
    expect(last && digestEntry(last)).toBe(plan?.head);
  }
  expect(reading.next().done).toBe(true);
});
