import { braceExpand, GLOBSTAR, Minimatch, type ParseReturnFiltered } from "minimatch";
import { PatternError, type TextMatcher } from "./text-matcher.ts";

/** Shorter than the 1,000 levels and rewrites after which brace-expansion stops expanding without saying so. */
const MAX_LENGTH = 1000;
/** Each `{` is one more pass over the pattern, so this keeps a hostile expansion cheap. */
const MAX_BRACES = 20;
const MAX_ALTERNATIVES = 32;
const MAX_EXPANDED_LENGTH = 10_000;
/** Far below the 200 from which minimatch silently stops matching. */
const MAX_GLOBSTARS = 10;

// `platform` and `optimizationLevel: 0` keep minimatch from rewriting separators and `..`. Braces are expanded here.
const EXACT = {
  dot: true,
  nobrace: true,
  nocomment: true,
  noext: true,
  nonegate: true,
  optimizationLevel: 0,
  platform: "linux",
  preserveMultipleSlashes: true,
} as const;

/** How a text divides at `/`. Special segments are the empty one, `.` and `..`. */
interface Shape {
  readonly segments: number;
  readonly special: number;
}

interface Wildcards {
  readonly minimatch: Minimatch;
  /** `segments` is infinite when the alternative has a `**`. */
  readonly shape: Shape;
  /** It begins with `**`, which stands for the root too: `**` + `/.env` matches `/app/.env`. */
  readonly rooted: boolean;
  readonly workPerUnit: number;
}

/**
 * Compiles a glob; it must match the whole text. `*` and `?` stay inside a segment between two slashes, `**` stands for
 * any number of whole segments (at least one at the end), `[...]` and `{x,y}` work, `\` escapes, and `!`, `#` and
 * extglobs are ordinary text. Dotfiles are matched. Nothing is normalised: no wildcard, not even `**`, stands for an
 * empty segment, `.` or `..`, which match only where the pattern has them written out. So `dir/*` gives away neither
 * `dir/..` nor `dir/x/`, and `dir/**` does not match `dir//x`. But a leading `**` stands for the root too: what it matches
 * it also matches with a `/` before it. `ignoreCase` uses the simple case folding of Unicode.
 *
 * @throws PatternError when the pattern is too long, expands to nothing or too much, or has too many `**`.
 */
export function compileGlob(pattern: string, options: { readonly ignoreCase?: boolean } = {}): TextMatcher {
  const nocase = options.ignoreCase ?? false;
  const literals: string[] = [];
  const wildcards: Wildcards[] = [];
  for (const alternative of expandBraces(pattern)) {
    const minimatch = new Minimatch(alternative, { ...EXACT, nocase });
    const parts = minimatch.set[0] ?? [""];
    if (parts.every((part) => typeof part === "string")) literals.push(parts.join("/"));
    else wildcards.push(describe(minimatch, parts));
  }
  // What the only wildcard alternative begins with: most texts differ from it there.
  const prefix = wildcards.length === 1 && !nocase ? literalPrefix(wildcards[0]?.minimatch.pattern ?? "") : "";
  const fixedWork = 500 + 10 * literals.length + 500 * wildcards.length;
  const workPerUnit = wildcards.reduce((sum, wildcard) => sum + wildcard.workPerUnit, wildcards.length > 0 ? 10 : 0);
  const largest: Shape = {
    segments: Math.max(...wildcards.map(({ shape }) => shape.segments)),
    special: Math.max(...wildcards.map(({ shape, rooted }) => shape.special + (rooted ? 1 : 0))),
  };
  return {
    work: (length) => fixedWork + workPerUnit * length,
    matches: (text) => {
      if (literals.includes(text)) return true;
      if (!text.startsWith(prefix)) return false;
      const shape = wildcards.length > 0 ? shapeOf(text, largest) : undefined;
      return shape !== undefined && wildcards.some((wildcard) => matchesExactly(wildcard, text, shape));
    },
  };
}

/**
 * minimatch lets `**` stand for empty segments and forgives a trailing slash. Each special segment of the pattern takes
 * one from the text, so with equal numbers none is left to be forgiven. This also keeps texts with `..` away from
 * minimatch, whose search for `**` + `/a/**` is quadratic on them.
 */
function matchesExactly({ minimatch, shape, rooted }: Wildcards, text: string, textShape: Shape): boolean {
  if (textShape.special === shape.special) return minimatch.match(text);
  if (!rooted || !text.startsWith("/") || textShape.special !== shape.special + 1) return false;
  // The leading `**` stands for the root, and matches the rest as if the root were not there.
  return minimatch.match(text.slice(1));
}

/** The shape of a text, or undefined as soon as it has more segments than any alternative can match. */
function shapeOf(text: string, largest: Shape): Shape | undefined {
  let segments = 0;
  let special = 0;
  for (let start = 0; start <= text.length; ) {
    const slash = text.indexOf("/", start);
    const end = slash === -1 ? text.length : slash;
    segments++;
    if (end - start <= 2 && isSpecial(text.slice(start, end))) special++;
    if (segments > largest.segments || special > largest.special) return undefined;
    start = end + 1;
  }
  return { segments, special };
}

function isSpecial(segment: string): boolean {
  return segment === "" || segment === "." || segment === "..";
}

function expandBraces(pattern: string): string[] {
  if (pattern.length > MAX_LENGTH) throw new PatternError(`a glob has at most ${MAX_LENGTH} characters`);
  if (pattern.split("{").length - 1 > MAX_BRACES) throw new PatternError(`a glob has at most ${MAX_BRACES} "{"`);
  // braceExpand cuts off at its maximum without saying so: one more than allowed tells that it did. What is empty counts
  // before it is left out, and may have displaced what is not: with text behind it, none is left out.
  if (expand(`${pattern}/`).length > MAX_ALTERNATIVES) {
    throw new PatternError(`the braces of a glob expand to at most ${MAX_ALTERNATIVES} alternatives`);
  }
  const alternatives = expand(pattern);
  if (alternatives.length === 0) throw new PatternError("the braces of this glob expand to nothing");
  if (alternatives.join("").length > MAX_EXPANDED_LENGTH) {
    throw new PatternError(`the braces of a glob expand to at most ${MAX_EXPANDED_LENGTH} characters`);
  }
  return alternatives;
}

function expand(pattern: string): string[] {
  return braceExpand(pattern, { braceExpandMax: MAX_ALTERNATIVES + 1 });
}

function describe(minimatch: Minimatch, parts: readonly ParseReturnFiltered[]): Wildcards {
  const globstars = parts.filter((part) => part === GLOBSTAR).length;
  if (globstars > MAX_GLOBSTARS) throw new PatternError(`a glob has at most ${MAX_GLOBSTARS} "**" segments`);
  const special = parts.filter((part) => typeof part === "string" && isSpecial(part)).length;
  // Between the first and the last `**`, minimatch tries each part of the pattern once at each segment of the text.
  const sections = Math.max(0, globstars - 1);
  let workPerUnit = globstars > 0 ? 25 + 80 * sections : 0;
  for (const part of parts) {
    if (part === GLOBSTAR) continue;
    workPerUnit += sections > 0 ? 30 : 6;
    if (typeof part === "object") workPerUnit += segmentWork(part.pattern, minimatch.nocase);
  }
  return {
    minimatch,
    shape: { segments: globstars > 0 ? Number.POSITIVE_INFINITY : parts.length, special },
    rooted: parts[0] === GLOBSTAR,
    workPerUnit,
  };
}

/**
 * minimatch compares the ends of a segment first (code point by code point when case is ignored); between two stars it
 * may try a whole piece again at each character.
 */
function segmentWork(segment: string, nocase: boolean): number {
  if (/^[^*?[\\]*(?:[*?]+[^*?[\\]*)?$/.test(segment)) return nocase ? 60 : 0;
  const longest = Math.max(...segment.split("*").map((piece) => piece.length));
  return 60 + longest * (nocase ? 40 : 15);
}

function literalPrefix(pattern: string): string {
  return pattern.slice(0, pattern.search(/[*?[\\]/));
}
