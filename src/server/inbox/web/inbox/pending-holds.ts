import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { InboxAnswer, InboxEvent, InboxItem, InboxItemAnswer } from "../../../../core/api/holds.ts";
import { type Api, ApiError, asApiError } from "../api.ts";
import { mergeHolds } from "./order-holds.ts";

/** As many holds as are asked for at a time, and at once when there were more before. */
const PAGE = 50;
const MOST = 1000;
/** When more than this became pending at about the same time, the list is asked for instead of each of them. */
const FEW = 8;
const GATHER_MS = 50;

/** What became of a hold that this person may see. */
export type HoldNews = Required<InboxEvent>;

/**
 * The holds that wait for a person, as far as they were loaded. One that is decided or ends meanwhile leaves the list at
 * once, unless somebody looks at it: then it stays, with what became of it, until they look elsewhere.
 */
export class PendingHolds {
  readonly holds: Signal<readonly InboxItem[]> = signal([]);
  readonly isLoading: Signal<boolean> = signal(true);
  readonly error: Signal<ApiError | undefined> = signal(undefined);
  /** The holds that came since the page was opened, in words for those who hear it. */
  readonly arrival: Signal<string> = signal("");
  readonly hasMore: ReadonlySignal<boolean> = computed(() => this.#next.value !== undefined);
  readonly waiting: ReadonlySignal<number> = computed(
    () => this.holds.value.filter(({ status }) => status === "pending").length,
  );
  /** The one in front. */
  readonly lookedAt: Signal<string | undefined> = signal(undefined);
  readonly #next: Signal<string | undefined> = signal(undefined);
  readonly #api: Pick<Api, "get">;
  readonly #watchers = new Set<(news: HoldNews | undefined) => void>();
  readonly #arriving = new Set<string>();
  #loading: Promise<void> | undefined;
  #again = false;
  #gathering: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Pick<Api, "get">) {
    this.#api = api;
  }

  /** Loads what was loaded before, as it is now. Asked while it does so, it does so once more. */
  async load(): Promise<void> {
    if (this.#loading) {
      this.#again = true;
      return await this.#loading;
    }
    this.#loading = this.#load();
    await this.#loading;
    this.#loading = undefined;
    if (!this.#again) return;
    this.#again = false;
    await this.load();
  }

  async #load(): Promise<void> {
    const limit = Math.min(Math.max(Math.ceil(this.holds.value.length / PAGE) * PAGE, PAGE), MOST);
    try {
      const { holds, next } = await this.#list({ limit });
      const listed = new Set(holds.map(({ holdId }) => holdId));
      const kept = this.holds.value.filter(({ holdId }) => holdId === this.lookedAt.value && !listed.has(holdId));
      batch(() => {
        // The server's order first: what is looked at must not move, and another take its key.
        this.holds.value = mergeHolds(holds, kept);
        this.#next.value = next;
        this.error.value = undefined;
      });
    } catch (error) {
      this.error.value = asApiError(error);
    }
    this.isLoading.value = false;
  }

  /** Loads the next part of a list that is longer. */
  async loadMore(): Promise<void> {
    const after = this.#next.value;
    if (after === undefined || this.isLoading.value) return;
    this.isLoading.value = true;
    try {
      const { holds, next } = await this.#list({ limit: PAGE, after });
      batch(() => {
        this.holds.value = mergeHolds(this.holds.value, holds);
        // Another load may have begun from the start meanwhile.
        if (this.#next.value === after) this.#next.value = next;
      });
    } catch (error) {
      this.error.value = asApiError(error);
    }
    this.isLoading.value = false;
  }

  async #list(query: { readonly limit: number; readonly after?: string }): Promise<InboxAnswer> {
    return await this.#api.get("/v1/inbox", { query: { status: "pending", ...query } });
  }

  /** One hold, with an earlier call to compare it with. @throws ApiError `not_found` also for one that is not theirs */
  async get(holdId: string, signal?: AbortSignal): Promise<InboxItemAnswer> {
    const item = await this.#api.get<InboxItemAnswer>(`/v1/inbox/${encodeURIComponent(holdId)}`, { signal });
    if (item.status !== "pending") this.#settle(item);
    return item;
  }

  /** Which hold is in front. The one that was before leaves the list if it does not wait any more. */
  lookAt(holdId: string | undefined): void {
    this.lookedAt.value = holdId;
    const left = this.holds.value.filter((hold) => hold.status === "pending" || hold.holdId === holdId);
    if (left.length < this.holds.value.length) this.holds.value = left;
  }

  /** Something became of a hold; undefined: nobody knows of which. */
  receive(news: HoldNews | undefined): void {
    for (const watch of this.#watchers) watch(news);
    if (!news) void this.load();
    else if (news.status === "pending") this.#gather(news.holdId);
    else this.#settle(news);
  }

  /** Tells somebody of what {@link receive} is told. */
  watch(watcher: (news: HoldNews | undefined) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #settle(news: HoldNews): void {
    this.#arriving.delete(news.holdId);
    // Of the holds of all approvers, most are in no list of this person.
    if (!this.holds.value.some(({ holdId }) => holdId === news.holdId)) return;
    this.holds.value = this.holds.value.flatMap((hold) => {
      if (hold.holdId !== news.holdId) return [hold];
      return hold.holdId === this.lookedAt.value ? [{ ...hold, status: news.status }] : [];
    });
  }

  #gather(holdId: string): void {
    this.#arriving.add(holdId);
    this.#gathering ??= setTimeout(() => void this.#fetchArrived(), GATHER_MS);
  }

  async #fetchArrived(): Promise<void> {
    this.#gathering = undefined;
    const ids = [...this.#arriving];
    const before = new Set(this.holds.value.map(({ holdId }) => holdId));
    if (ids.length > FEW) {
      this.#arriving.clear();
      await this.load();
    } else {
      await Promise.all(ids.map((id) => this.#fetch(id)));
    }
    const arrived = this.holds.value.filter(({ holdId }) => ids.includes(holdId) && !before.has(holdId));
    if (arrived.length > 0) this.arrival.value = describeArrival(arrived);
  }

  async #fetch(holdId: string): Promise<void> {
    try {
      const item = await this.get(holdId);
      // It was decided while it was on its way, if it is not arriving any more.
      if (item.status !== "pending" || !this.#arriving.delete(holdId)) return;
      this.holds.value = mergeHolds(this.holds.value, [item]);
    } catch (error) {
      this.#arriving.delete(holdId);
      if (!(error instanceof ApiError && error.code === "not_found")) await this.load();
    }
  }
}

function describeArrival(holds: readonly InboxItem[]): string {
  const [first] = holds;
  if (holds.length > 1 || !first) return `${holds.length} new holds wait for you`;
  return `A new hold waits for you: ${first.tool ?? "a plan"}, for ${first.user}`;
}
