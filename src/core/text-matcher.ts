/** A compiled glob or regex. `matches` does not throw, and the text is never normalised. */
export interface TextMatcher {
  /**
   * An upper bound of the work of one match on a text of this length (UTF-16 units), known without starting it. One
   * unit is about a nanosecond, measured and rounded up; the number is the same on every machine.
   */
  work(length: number): number;
  /** Whether the pattern matches the whole text. */
  matches(text: string): boolean;
}

/** A pattern that is not accepted. The message says why and what the bound is; it never quotes the pattern. */
export class PatternError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "PatternError";
  }
}

/** The {@link TextMatcher.work} that one decision may do, in all: a decision that needs more is blocked. */
export const MAX_MATCH_WORK: number = 50_000_000;
