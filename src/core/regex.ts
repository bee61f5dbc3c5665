import { RE2JSException, RE2Set } from "re2js";
import { PatternError, type TextMatcher } from "./text-matcher.ts";

const MAX_LENGTH = 2000;
/** Counted repeats written out. re2js itself allows a thousand times the source, and a second to compile it. */
const MAX_EXPANDED_SIZE = 2000;
/** re2js folds the case of a range one character at a time: 3 ms for a wide one. */
const MAX_UNICODE_CLASSES = 10;
const UNICODE_CLASS = /\\[pP]|-(?:[^\0-\x7f]|\\x\{)/g;
const MAX_DFA_BYTES = 1 << 18;
const MAX_DFA_WORK = 100_000;

/** What is used of the lazy DFA of re2js 2.10. It is not documented: pin the version, and raise it with these tests. */
interface LazyDfa {
  readonly startStates: ReadonlyMap<number, DfaState>;
  readonly classBounds: ArrayLike<number>;
  step(state: DfaState, runeClass: number, rune: number, anchor: number): DfaState | null;
}
interface DfaState {
  readonly nfaStates: readonly number[];
}

/**
 * Compiles an RE2 expression that must match the whole text, whatever its flags: `(?m)` does not move the ends of the
 * text, and `x` does not match `x\n`. Case matters and `.` is any code point but a line feed, unless `(?i)` and `(?s)`
 * say so. Matching takes time in proportion to the text; {@link TextMatcher.work} tells how much.
 *
 * @throws PatternError when re2js does not accept the expression (look-around and back-references, for example), or
 * when it is too long or too large.
 */
export function compileRegex(source: string): TextMatcher {
  if (source.length > MAX_LENGTH) throw new PatternError(`a regex has at most ${MAX_LENGTH} characters`);
  if ((source.match(UNICODE_CLASS)?.length ?? 0) > MAX_UNICODE_CLASSES) {
    throw new PatternError(`a regex has at most ${MAX_UNICODE_CLASSES} Unicode classes and ranges beyond ASCII`);
  }
  if (expandedSize(source) > MAX_EXPANDED_SIZE) {
    throw new PatternError(`a regex with its repeats written out has at most ${MAX_EXPANDED_SIZE} parts`);
  }
  let set = compileSet(source, MAX_DFA_BYTES);
  const size = set.prog.numInst();
  const isSmall = exploreDfa(set);
  // Without the DFA the cost of each character is bounded by the size, and a hostile text cannot make it hold memory.
  if (!isSmall) set = compileSet(source, 0);
  const workPerUnit = isSmall ? (set.dfa.classBounds.length > 64 ? 60 : 30) : 50 * size;
  return {
    work: (length) => 500 + workPerUnit * (length + 1),
    matches: (text) => set.match(text).length > 0,
  };
}

/** The source is compiled alone, never inside other text, so that `a)|(?:b` cannot close a group of ours. */
function compileSet(source: string, dfaBytes: number): RE2Set {
  const set = new RE2Set(RE2Set.ANCHOR_BOTH, 0, dfaBytes);
  try {
    set.add(source);
    set.compile();
  } catch (error) {
    const reason = error instanceof RE2JSException ? error.message.replace(/: `[\s\S]*$/, "") : "it cannot be compiled";
    throw new PatternError(`not an RE2 expression: ${reason}`, { cause: error });
  }
  return set;
}

/**
 * Builds every state of the DFA beforehand, so that a match only looks up. False when there are too many: then re2js
 * would build up to 8 MB of them during a match (about 100 ms) before it falls back to its slow engine.
 */
function exploreDfa(set: RE2Set): boolean {
  set.match("");
  const dfa: LazyDfa = set.dfa;
  let work = 0;
  const states = new Set(dfa.startStates.values());
  for (const state of states) {
    if (state.nfaStates.length === 0) continue;
    for (let runeClass = 0; runeClass <= dfa.classBounds.length + 1; runeClass++) {
      const isEnd = runeClass > dfa.classBounds.length;
      const rune = isEnd ? -1 : (dfa.classBounds[runeClass - 1] ?? 0);
      const next = dfa.step(state, runeClass, rune, RE2Set.ANCHOR_BOTH);
      if (next === null) return false;
      work += 6 + state.nfaStates.length + next.nfaStates.length;
      if (work > MAX_DFA_WORK) return false;
      states.add(next);
    }
  }
  return states.size > 0;
}

const TOKEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|[\s\S])|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\(\?[-a-zA-Z]*[:)]|\{\d+(?:,\d*)?\}|[\s\S]/g;

/** How many parts the expression has once `x{n}` is written n times: at least a quarter of its instructions in re2js. */
function expandedSize(source: string): number {
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  for (const [token] of source.matchAll(TOKEN)) {
    // In re2js a repeat after flags or an empty quotation repeats what stands before them, even a repeat.
    if (token === "\\Q\\E" || /^\(\?.*\)$/.test(token)) continue;
    const repeat = /^\{(\d+),?(\d*)\}$/.exec(token);
    if (repeat) {
      const times = Math.max(1, Number(repeat[1]), Number(repeat[2]));
      size += last * (times - 1);
      last *= times;
    } else if (token.startsWith("(")) {
      outer.push(size);
      size = 0;
    } else if (token === ")") {
      last = size + 1;
      size = last + (outer.pop() ?? 0);
    } else if (/^[*+?]$/.test(token)) {
      last++;
      size++;
    } else {
      // A Unicode class has hundreds of ranges.
      last = token.startsWith("\\Q") ? token.length : /\\[pP]/.test(token) ? 20 : 1;
      size += last;
    }
  }
  return size;
}
