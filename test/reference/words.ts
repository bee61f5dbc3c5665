const THOUSANDS = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/;

/** What a word is made of; an apostrophe before a final s ends it, and so does all other punctuation. */
const LETTER = String.raw`[\p{L}\p{N}\p{M}\p{Pc}\p{Cf}]`;
const JOINT = String.raw`(?:[-./@\\&+%~]|['’](?!s(?!${LETTER}))|(?<=\d):(?=\d)|(?<=\d),(?=\d))`;
const AHEAD = String.raw`(?:(?:\.\.?\/)+|\.|~?\/|[-+](?=\.?\d))`;
const OF_URL = String.raw`[\p{L}\p{N}\p{M}\p{Pc}\p{Cf}\-.~:/?#[\]@!$&'()*+,;=%]+`;
const WHOLE_URL = new RegExp(`^(?:https?://|www\\.)${OF_URL}`, "iu");
const REST_OF_URL = new RegExp(`^[/?#:]${OF_URL}`, "u");
const WORD = new RegExp(`^${AHEAD}?${LETTER}(?:${LETTER}|${JOINT}(?=${LETTER}))*`, "u");

/** The words of a text, each as long as it goes. A punctuation mark that joins nothing is a word too. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let rest = text.normalize("NFC").trimStart();
  while (rest !== "") {
    const found = firstWords(rest);
    words.push(...found.split(LIST).map(plainWord));
    rest = rest.slice(found.replaceAll("\n", "").length).trimStart();
  }
  return words;
}

/** Between the words that one word turns out to be. */
const LIST = "\n";

/** The first word of a text, or, with {@link LIST} between them, the numbers of a list with which it begins. */
function firstWords(text: string): string {
  const [word = ""] = WORD.exec(text) ?? [];
  const [host = ""] = /^[^/?#:]+/.exec(word) ?? [];
  const more = /^[^/@.]+\.[^/@.]/.test(host) ? REST_OF_URL.exec(text.slice(host.length))?.[0] : undefined;
  const [whole] = WHOLE_URL.exec(text) ?? [];
  const url = whole ?? (more && splitList(host) === undefined ? host + more : undefined);
  // The punctuation of the sentence is none of the URL.
  if (url !== undefined) return url.replace(/[.,;:!?)'\]}]+$/u, "");
  return splitList(word) ?? (word || /^(.)\1*/su.exec(text)![0]);
}

/** What a word has up to the last number of a list: more than two, with commas and no space, but for thousands. */
function splitList(word: string): string | undefined {
  for (const { index, 0: run } of word.matchAll(/\d+(?:,\d+){2,}/g)) {
    const commas = [...run.matchAll(/,(?!\d{3}(?!\d))/g)];
    const last = commas.at(-1);
    if (last === undefined) continue;
    const list = run.slice(0, last.index + 1).replace(/,(?!\d{3}(?!\d))/g, `${LIST},${LIST}`);
    return word.slice(0, index) + list.slice(0, -LIST.length);
  }
  return undefined;
}

/** A URL without its scheme, `www.` and the slash of its root; the letters of an e-mail address in lower case. */
function plainWord(word: string): string {
  if (/^[^@/]+@[^@/]+$/.test(word)) return word.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const url = word.replace(/^https?:\/\//i, "").replace(/^www\./i, "");
  return /^[^/]+\.[^/]+\/$/.test(url) ? url.slice(0, -1) : url;
}

/** The number that a word says, if it says one beyond doubt. */
export function numberOf(word: string): number | undefined {
  const plain = THOUSANDS.test(word) ? word.replaceAll(",", "") : word;
  if (!/^[-+]?(0|[1-9]\d*)(\.\d+)?$/.test(plain)) return undefined;
  return plain.replace(/\D/g, "").length > 15 ? undefined : Number(plain);
}

/** Whether the words of one text stand in another, one after the other. */
export function standsIn(value: string, text: string): boolean {
  const wanted = wordsOf(value);
  const words = wordsOf(text);
  return wanted.length > 0 && words.some((_, start) => wanted.every((word, index) => words[start + index] === word));
}
