import { splitText } from "./split-text.ts";

/** Where a text came from: what {@link TokenIndex.add} was told. */
export type Origin = number;

/**
 * The tokens of texts, in order, so that a run of them is found without reading the texts again. A run never goes from one
 * text into the next.
 */
export class TokenIndex {
  readonly #fold: (token: string) => string;
  readonly #ids = new Map<string, number>();
  /** By id: how often the token occurs, and where it was seen last. */
  readonly #counts: number[] = [0];
  readonly #lasts: number[] = [-1];
  /** By place: the token's id, or 0 between two texts; and the place where the same token stands before. */
  readonly #tokens: number[] = [];
  readonly #before: number[] = [];
  readonly #numbers = new Map<number, Origin>();
  readonly #starts: { readonly at: number; readonly origin: Origin }[] = [];

  /** @param options.ignoreCase whether case does not matter */
  constructor({ ignoreCase = false }: { readonly ignoreCase?: boolean } = {}) {
    this.#fold = ignoreCase ? (token) => token.toLowerCase() : (token) => token;
  }

  /** Adds a text that is one: nothing runs from it into another. */
  add(text: string, origin: Origin): void {
    this.#starts.push({ at: this.#tokens.length, origin });
    for (const token of splitText(text)) {
      const number = readNumber(token);
      if (number !== undefined) this.#numbers.set(number, origin);
      this.#push(this.#idOf(this.#fold(token)));
    }
    this.#push(0);
  }

  addNumber(value: number, origin: Origin): void {
    this.#numbers.set(value, origin);
    this.add(String(value), origin);
  }

  /**
   * Where all tokens of a text stand one after the other, the newest place; undefined if they do nowhere, or if there are none.
   *
   * @param spend is told how many tokens are compared, and may throw to stop
   */
  find(text: string, spend: (tokens: number) => void): Origin | undefined {
    const ids: number[] = [];
    let rarest = 0;
    for (const token of splitText(text)) {
      const id = this.#ids.get(this.#fold(token));
      if (id === undefined) return undefined;
      ids.push(id);
      if (this.#countOf(id) < this.#countOf(ids[rarest] as number)) rarest = ids.length - 1;
    }
    const anchor = ids[rarest];
    if (anchor === undefined) return undefined;
    for (let at = this.#lasts[anchor] as number; at >= 0; at = this.#before[at] as number) {
      const start = at - rarest;
      let same = 0;
      while (same < ids.length && this.#tokens[start + same] === ids[same]) same++;
      if (same === ids.length) return this.#originAt(start);
      spend(same + 1);
    }
    return undefined;
  }

  /** Where a number of this value stands, the newest place. */
  findNumber(value: number): Origin | undefined {
    return this.#numbers.get(value);
  }

  #idOf(token: string): number {
    const known = this.#ids.get(token);
    if (known !== undefined) return known;
    const id = this.#counts.length;
    this.#ids.set(token, id);
    this.#counts.push(0);
    this.#lasts.push(-1);
    return id;
  }

  #push(id: number): void {
    this.#before.push(this.#lasts[id] as number);
    this.#lasts[id] = this.#tokens.length;
    this.#counts[id] = this.#countOf(id) + 1;
    this.#tokens.push(id);
  }

  #countOf(id: number): number {
    return this.#counts[id] as number;
  }

  #originAt(place: number): Origin {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle]?.at as number) <= place) low = middle;
      else high = middle - 1;
    }
    return this.#starts[low]?.origin as Origin;
  }
}

/** As people write numbers, with or without commas between thousands. Not `1e2`, not `007`, and no more digits than are exact. */
const NUMBER = /^[-+]?(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)(?:\.\d+)?$/;
const MAX_DIGITS = 15;

function readNumber(token: string): number | undefined {
  const first = token.charCodeAt(0);
  if (first > 57 || token.length > 32 || !NUMBER.test(token)) return undefined;
  const digits = token.replaceAll(",", "");
  return digits.replace(/\D/g, "").length <= MAX_DIGITS ? Number(digits) || 0 : undefined;
}
