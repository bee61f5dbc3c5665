import { endpoints } from "../../core/api/index.ts";
import type { Opened, PublicKey } from "../../core/index.ts";
import type { ServerClient } from "./server-client.ts";

/** However often tokens come with unknown keys, the server is not asked more often than this. */
const ASK_AGAIN_MS = 10_000;

/** The public keys of the server: given and pinned, or as it publishes them under its base URL. */
export class KeySet {
  readonly #client: ServerClient;
  readonly #isPinned: boolean;
  #keys: readonly PublicKey[];
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(client: ServerClient, pinned: readonly PublicKey[] | undefined) {
    this.#client = client;
    this.#isPinned = pinned !== undefined;
    this.#keys = pinned ?? [];
  }

  /**
   * Opens a token with the keys that are known, and once more with those that the server has now if it is not valid: keys
   * are rotated.
   *
   * @throws ServerError
   */
  async open<T extends Pick<Opened<unknown>, "valid">>(open: (keys: readonly PublicKey[]) => Promise<T>): Promise<T> {
    if (this.#keys.length > 0) {
      const opened = await open(this.#keys);
      if (opened.valid || this.#isPinned || performance.now() < this.#askedAt + ASK_AGAIN_MS) return opened;
    }
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
    return await open(this.#keys);
  }

  async #ask(): Promise<void> {
    const { keys } = await this.#client.ask(endpoints.getKeySet, { isRepeatable: true });
    this.#askedAt = performance.now();
    this.#keys = keys;
  }
}
