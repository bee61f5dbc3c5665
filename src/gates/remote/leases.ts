import { randomUUID } from "node:crypto";
import { endpoints } from "../../core/api/index.ts";
import type { ServerClient } from "./server-client.ts";

/** The plans that this gate goes on with: for as long as it does, nobody else can. */
export class Leases {
  /** What the server knows this gate as. */
  readonly holder: string = randomUUID();
  readonly #client: ServerClient;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(client: ServerClient) {
    this.#client = client;
  }

  /** Makes a lease longer in time, until it is dropped. Both times in milliseconds, by the server's clock. */
  keep(planId: string, { leaseUntil, now }: { readonly leaseUntil: number; readonly now: number }): void {
    this.drop(planId);
    const renewMs = Math.max(1000, (leaseUntil - now) / 3);
    const renew = async (): Promise<void> => {
      const ask = { params: { planId }, body: { holder: this.holder }, isRepeatable: true };
      await this.#client.ask(endpoints.leasePlan, ask).catch(() => undefined);
    };
    this.#timers.set(planId, setInterval(() => void renew(), renewMs).unref());
  }

  /** Gives a lease back, as far as this gate has it: somebody else may go on with the plan. */
  async release(planId: string): Promise<void> {
    if (!this.#timers.has(planId)) return;
    this.drop(planId);
    const body = { holder: this.holder, release: true } as const;
    // It ends by itself soon.
    await this.#client
      .ask(endpoints.leasePlan, { params: { planId }, body, isRepeatable: true })
      .catch(() => undefined);
  }

  drop(planId: string): void {
    clearInterval(this.#timers.get(planId));
    this.#timers.delete(planId);
  }

  dropAll(): void {
    for (const planId of [...this.#timers.keys()]) this.drop(planId);
  }
}
