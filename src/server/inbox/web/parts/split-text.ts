import { HIDDEN_CHARACTER } from "../../../../core/hidden-characters.ts";

/** A part of a text as it is shown: what anybody may have written is never taken at its looks. */
export type TextPart =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "line-end" }
  /** One character, `count` times, that would not be seen, or that would move what stands around it. */
  | { readonly kind: "hidden"; readonly code: string; readonly name: string; readonly count: number }
  /** Letters that look like others: `code` is of the first. */
  | { readonly kind: "lookalike"; readonly text: string; readonly code: string };

/** A text in parts, in order: together they are the whole text. */
export function splitText(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(SPECIAL)) {
    if (match.groups?.["emoji"] !== undefined) continue;
    parts.push(...splitWords(text.slice(end, match.index)));
    parts.push(...describeSpecial(match[0]));
    end = match.index + match[0].length;
  }
  parts.push(...splitWords(text.slice(end)));
  return parts;
}

/** Emoji are made of several characters, some of them drawn as nothing: those that there are may stay as they are. */
const SPECIAL = new RegExp(
  String.raw`(?<emoji>\p{RGI_Emoji})|(?<hidden>${HIDDEN_CHARACTER.source})\k<hidden>*|(?<space>[\p{Zs}--[ ]])\k<space>*|(?<=\p{M}{3})\p{M}+`,
  "gv",
);

function describeSpecial(run: string): readonly TextPart[] {
  if (run.startsWith("\n")) return Array.from(run, () => ({ kind: "line-end" }) as const);
  const [first = ""] = run;
  return [{ kind: "hidden", code: codeOf(first), name: nameOf(first), count: Array.from(run).length }];
}

/** `U+202E`. */
export function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const NAMES: Readonly<Record<string, string>> = {
  "U+0000": "null",
  "U+0007": "bell",
  "U+0008": "backspace",
  "U+0009": "tab",
  "U+000D": "carriage return",
  "U+001B": "escape",
  "U+007F": "delete",
  "U+00A0": "no-break space",
  "U+00AD": "soft hyphen",
  "U+061C": "Arabic letter mark",
  "U+200B": "zero-width space",
  "U+200C": "zero-width non-joiner",
  "U+200D": "zero-width joiner",
  "U+200E": "left-to-right mark",
  "U+200F": "right-to-left mark",
  "U+2028": "line separator",
  "U+2029": "paragraph separator",
  "U+202A": "left-to-right embedding",
  "U+202B": "right-to-left embedding",
  "U+202C": "pop directional formatting",
  "U+202D": "left-to-right override",
  "U+202E": "right-to-left override",
  "U+2060": "word joiner",
  "U+2066": "left-to-right isolate",
  "U+2067": "right-to-left isolate",
  "U+2068": "first strong isolate",
  "U+2069": "pop directional isolate",
  "U+3000": "ideographic space",
  "U+3164": "Hangul filler",
  "U+FE0F": "variation selector",
  "U+FEFF": "byte order mark",
};

function nameOf(character: string): string {
  const known = NAMES[codeOf(character)];
  if (known !== undefined) return known;
  if (/\p{Zs}/u.test(character)) return "unusual space";
  return /\p{M}/u.test(character) ? "combining mark" : "invisible character";
}

function splitWords(text: string): readonly TextPart[] {
  if (!NOT_ASCII.test(text)) return text === "" ? [] : [{ kind: "plain", text }];
  const parts: TextPart[] = [];
  let end = 0;
  const addPlain = (until: number): void => {
    if (until > end) parts.push({ kind: "plain", text: text.slice(end, until) });
  };
  for (const { index, 0: word } of text.matchAll(WORD)) {
    const isMixed = /[a-z]/i.test(word) && OTHER_SCRIPT.test(word);
    for (const run of word.matchAll(isMixed ? OTHER_RUN : DISGUISED_RUN)) {
      const at = index + run.index;
      addPlain(at);
      parts.push({ kind: "lookalike", text: run[0], code: codeOf(run[0]) });
      end = at + run[0].length;
    }
  }
  addPlain(text.length);
  return parts;
}

const NOT_ASCII = /[^\n -~]/;
/** A word, an address or a host. */
const WORD = /[\p{L}\p{M}\p{N}_\uff00-\uffef]+(?:[.@][\p{L}\p{M}\p{N}_\uff00-\uffef]+)*/gu;
/** The scripts that share shapes with Latin: a word in two of them has no honest reason, or a rare one. */
const OTHER_SCRIPT = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
/** Mathematical, circled and full-width letters and digits, which are Latin ones to whoever normalises them. */
const DISGUISED = String.raw`[\u{1d400}-\u{1d7ff}\u2460-\u24ff\uff01-\uff5e\u2100-\u214f\u1d2c-\u1d6a]`;
const DISGUISED_RUN = new RegExp(`${DISGUISED}+`, "gu");
const OTHER_RUN = new RegExp(`(?:${OTHER_SCRIPT.source}|${DISGUISED})+`, "gu");
