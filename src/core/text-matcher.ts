/** A compiled glob or regex. `matches` does not throw, keeps nothing between calls and never normalises the text. */
export interface TextMatcher {
  /**
   * An upper bound of the work of one match on a text of this length (UTF-16 units), known without starting it. One
   * unit is about a nanosecond, measured and rounded up; the number is the same on every machine.
   */
  work(length: number): number;
  /** Whether the pattern matches the whole text. */
  matches(text: string): boolean;
}

/** A pattern that is not accepted. The message says why and what the bound is, for people; it never quotes the pattern. */
export class PatternError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "PatternError";
  }
}

/** The work that one decision may spend on matching, in the units of {@link TextMatcher.work}: a decision that needs more is blocked. */
export const MAX_MATCH_WORK: number = 50_000_000;
