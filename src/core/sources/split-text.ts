/**
 * Splits a text into tokens, each as long as it goes: words with what joins them (`12.50`, `john.smith@x.org`,
 * `acme/app`, `2024-05-15T10:00`), URLs whole, and every other visible character alone. White space only separates.
 *
 * Two texts that are written differently have the same tokens only where this is said here: composed and decomposed
 * letters are the same (NFC); a URL stands without `http(s)://`, `www.` and the slash of its root; ASCII letters of an
 * e-mail address are in lower case. Characters that nobody sees are part of the word that they stand in, so that it is
 * another word. Takes time in proportion to the text, whatever it is.
 */
export function splitText(text: string): string[] {
  const given = compose(text);
  const tokens: string[] = [];
  let at = 0;
  while (at < given.length) {
    const kind = kindAt(given, at);
    if (kind === SPACE) {
      at++;
      continue;
    }
    const start = at;
    const urlStart = kind === WORD && maybeUrl(given, at) ? matchAt(URL_START, given, at) : 0;
    const wordStart = urlStart > 0 ? at : startOfWord(given, at, kind);
    if (urlStart > 0) at = endOfUrl(given, start, start + urlStart);
    else if (wordStart === undefined) at = endOfSymbols(given, at);
    else at = endOfWord(given, wordStart);
    const isUrl = urlStart > 0 || (wordStart !== undefined && goesOnAsUrl(given, start, at));
    if (isUrl && urlStart === 0) at = endOfUrl(given, start, at);
    tokens.push(toCanonical(given.slice(start, at), isUrl));
  }
  return tokens;
}

/** NFC, but for texts with endless marks on one letter, for which it takes time in their square. */
function compose(text: string): string {
  return ENDLESS_MARKS.test(text) ? text : text.normalize("NFC");
}

/** Where a word begins, behind what belongs to it; undefined if none begins here. */
function startOfWord(text: string, at: number, kind: number): number | undefined {
  if (kind === WORD) return at;
  if (!PREFIXES.includes(text[at] as string)) return undefined;
  const start = at + matchAt(PREFIX, text, at);
  return start > at && kindAt(text, start) === WORD ? start : undefined;
}

/** The same character, as often as it stands there: `---` is one. */
function endOfSymbols(text: string, start: number): number {
  const width = widthAt(text, start);
  let at = start + width;
  while (text.codePointAt(at) === text.codePointAt(start)) at += width;
  return at;
}

/** Whether a word is a host with more behind it: `acme.dev/a?b=c`, `acme.dev:8080`. */
function goesOnAsUrl(text: string, start: number, end: number): boolean {
  const word = text.slice(start, end);
  if (!word.includes(".") || !HOST.test(word)) return false;
  return word.includes("/") || (MORE.includes(text[end] as string) && matchAt(MORE_OF_URL, text, end) > 0);
}

/** From a character of a word to the end of the last word that is joined to it. */
function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    if (kindAt(text, at) === WORD) at += widthAt(text, at);
    else if (joins(text, at)) at++;
    else break;
  }
  return at;
}

/** Whether a character that follows on a word joins the next one to it. */
function joins(text: string, at: number): boolean {
  if (kindAt(text, at + 1) !== WORD) return false;
  switch (text[at]) {
    case "'":
    case "’":
      // What somebody has: `Dora's bill` is Dora's, and says Dora.
      return matchAt(POSSESSIVE, text, at + 1) === 0;
    case ":":
      return isDigit(text, at - 1) && isDigit(text, at + 1);
    case ",":
      return isDigit(text, at - 1) && (matchAt(THOUSANDS, text, at + 1) > 0 || matchAt(DECIMALS, text, at) > 0);
    default:
      return JOINTS.includes(text[at] as string);
  }
}

/** The end of the URL, without the punctuation of the sentence that it stands in. */
function endOfUrl(text: string, start: number, from: number): number {
  let end = from;
  let [round, square] = [0, 0];
  for (; end < text.length && isOfUrl(text, end); end += widthAt(text, end)) {
    if (text[end] === "(") round++;
    else if (text[end] === ")") round--;
    else if (text[end] === "[") square++;
    else if (text[end] === "]") square--;
  }
  for (; end > start + 1; end--) {
    const last = text[end - 1] as string;
    if (last === ")" && round < 0) round++;
    else if (last === "]" && square < 0) square++;
    else if (!PUNCTUATION.includes(last)) break;
  }
  return end;
}

function toCanonical(token: string, isUrl: boolean): string {
  if (isUrl) return token.replace(SCHEME, "").replace(ROOT, "$1") || token;
  return token.includes("@") && EMAIL.test(token)
    ? token.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    : token;
}

/** Whether it begins with h or w. */
function maybeUrl(text: string, at: number): boolean {
  const letter = text.charCodeAt(at) | 32;
  return letter === 104 || letter === 119;
}

const SPACE = 1;
const WORD = 2;
const SYMBOL = 3;

const JOINTS = ".-/@&+%~\\";
const PREFIXES = "./~-+";
const MORE = "/?#:";
const PUNCTUATION = ".,;:!?'*";
const URL_START = /https?:\/\/(?=[^\s"<>`])|www\.(?=[\p{L}\p{N}])/iuy;
/** What belongs to a word that it stands before: the way to a file, the sign of a number. */
const PREFIX = /(?:\.\.?\/){1,16}|~?\/|(?<!\.)\.|[-+](?=\.?\d)/uy;
const POSSESSIVE = /s(?![\p{L}\p{N}\p{M}\p{Pc}\p{Cf}\p{DI}@])/uy;
const THOUSANDS = /\d{3}(?!\d)/y;
/** `12,50` as many write it, or a list of two; `1,2,3` is a list. */
const DECIMALS = /(?<!\d,\d*),\d+(?!\d|,\d)/y;
const MORE_OF_URL = /[/?#:](?=[^\s"<>`{}|^])/y;
const HOST = /^[^/@.]+\.[^/@.]/;
const SCHEME = /^(?:https?:\/\/)?(?:www\.)?/i;
const ROOT = /^([^/?#]+)\/$/;
const EMAIL = /^[^@]+@[^@]+$/;

const ENDLESS_MARKS = /\p{M}{31}/u;
/** Letters, digits, marks, connecting punctuation, and what nobody sees. */
const OF_WORD = /[\p{L}\p{N}\p{M}\p{Pc}\p{Cf}\p{DI}]/u;

/** The kind of each UTF-16 unit below the surrogates, once it was asked for: what is written past the end is dropped. */
const kinds = new Uint8Array(0xd800);

/** 0 past the end. */
function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = kinds[unit];
  if (known) return known;
  if (Number.isNaN(unit)) return 0;
  const kind = findKind(String.fromCodePoint(text.codePointAt(at) as number));
  kinds[unit] = kind;
  return kind;
}

function findKind(character: string): number {
  if (OF_WORD.test(character)) return WORD;
  return /\s/.test(character) ? SPACE : SYMBOL;
}

/** How many UTF-16 units the character takes. */
function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 48 && unit <= 57;
}

function isOfUrl(text: string, at: number): boolean {
  return kindAt(text, at) === WORD || "-.~:/?#[]@!$&'()*+,;=%".includes(text[at] as string);
}

/** The length of what a sticky expression matches at a place; 0 if it does not. */
function matchAt(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.exec(text)?.[0].length ?? 0;
}
