import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endpoints } from "../../core/api/index.ts";
import { Leases } from "./leases.ts";
import type { ServerClient } from "./server-client.ts";
import { ServerError } from "./server-error.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function someLeases(answer: () => Promise<unknown> = async () => ({})) {
  const ask = vi.fn<(endpoint: unknown, ask: object) => Promise<unknown>>(answer);
  const leases = new Leases({ ask } as unknown as ServerClient);
  const renewal = (planId: string): unknown[] => [
    endpoints.leasePlan,
    { params: { planId }, body: { holder: leases.holder }, isRepeatable: true },
  ];
  return { leases, ask, renewal };
}

test("each gate has a name of its own", () => {
  const [one, other] = [someLeases().leases, someLeases().leases];
  expect(one.holder).not.toBe(other.holder);
});

test("a lease is made longer three times before it would end, until it is dropped", async () => {
  const { leases, ask, renewal } = someLeases();
  leases.keep("plan-1", { leaseUntil: 1_030_000, now: 1_000_000 });
  await vi.advanceTimersByTimeAsync(9999);
  expect(ask).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20_001);
  expect(ask.mock.calls).toEqual([renewal("plan-1"), renewal("plan-1"), renewal("plan-1")]);
  leases.drop("plan-1");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ask).toHaveBeenCalledTimes(3);
  expect(vi.getTimerCount()).toBe(0);
});

test("a lease that is short or over is not asked for without a break", async () => {
  const { leases, ask } = someLeases();
  leases.keep("plan-1", { leaseUntil: 1_000_000, now: 2_000_000 });
  await vi.advanceTimersByTimeAsync(5500);
  expect(ask).toHaveBeenCalledTimes(5);
});

test("what the server says of it changes nothing here: it ends by itself", async () => {
  const { leases, ask } = someLeases(() => Promise.reject(new ServerError("ERR_SERVER_UNAVAILABLE", "down")));
  leases.keep("plan-1", { leaseUntil: 3000, now: 0 });
  await vi.advanceTimersByTimeAsync(2500);
  expect(ask).toHaveBeenCalledTimes(2);
  await leases.release("plan-1");
  expect(ask).toHaveBeenCalledTimes(3);
});

test("a lease that is kept anew has one timer", async () => {
  const { leases, ask } = someLeases();
  leases.keep("plan-1", { leaseUntil: 3000, now: 0 });
  leases.keep("plan-1", { leaseUntil: 30_000, now: 0 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ask).toHaveBeenCalledTimes(1);
});

test("a lease that this gate has is given back, once; of another there is nothing to give", async () => {
  const { leases, ask } = someLeases();
  await leases.release("plan-1");
  expect(ask).not.toHaveBeenCalled();
  leases.keep("plan-1", { leaseUntil: 3000, now: 0 });
  await leases.release("plan-1");
  await leases.release("plan-1");
  const body = { holder: leases.holder, release: true };
  expect(ask.mock.calls).toEqual([[endpoints.leasePlan, { params: { planId: "plan-1" }, body, isRepeatable: true }]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ask).toHaveBeenCalledTimes(1);
});

test("all are dropped at once", async () => {
  const { leases, ask } = someLeases();
  for (const planId of ["a", "b", "c"]) leases.keep(planId, { leaseUntil: 3000, now: 0 });
  leases.dropAll();
  expect(vi.getTimerCount()).toBe(0);
  await leases.release("b");
  expect(ask).not.toHaveBeenCalled();
});

test("a lease keeps no process alive", () => {
  vi.useRealTimers();
  const set = vi.spyOn(globalThis, "setInterval");
  const { leases } = someLeases();
  leases.keep("plan-1", { leaseUntil: 30_000, now: 0 });
  const timer = set.mock.results[0]?.value as NodeJS.Timeout;
  expect(timer.hasRef()).toBe(false);
  leases.dropAll();
  set.mockRestore();
});
