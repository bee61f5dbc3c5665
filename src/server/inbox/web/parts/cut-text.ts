/** The part of a text between two places, never with half a character at an end. */
export function cutText(text: string, from: number, to: number): string {
  return text.slice(wholeFrom(text, from), wholeFrom(text, to));
}

/** The place itself, or the one before if it is in the middle of a character. */
function wholeFrom(text: string, at: number): number {
  return /^[\udc00-\udfff]/.test(text.charAt(at)) && /^[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
