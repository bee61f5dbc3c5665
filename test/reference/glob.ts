/** Whether a glob matches a text, as docs/policy.md says it: alternatives written out, then segment by segment. */
export function matchesGlob(glob: string, text: string): boolean {
  const patterns = writeOut(glob);
  // An alternative that is empty as a whole is none.
  return patterns
    .filter((pattern) => pattern !== "" || patterns.length === 1)
    .some((pattern) => matchesOne(pattern, text));
}

/** `a{b,c}` is `ab` or `ac`. */
function writeOut(glob: string): string[] {
  const braces = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/su.exec(glob);
  if (!braces) return [glob];
  const [, before = "", inside = "", after = ""] = braces;
  return inside.split(",").flatMap((part) => writeOut(before + part + after));
}

function matchesOne(pattern: string, text: string): boolean {
  if (!hasWildcard(pattern)) return asWritten(pattern) === text;
  const parts = pattern.split("/");
  const rooted = text.startsWith("/") ? text.slice(1).split("/") : undefined;
  return (
    matchSegments(parts, text.split("/")) ||
    // A leading ** stands for the root too.
    (parts[0] === "**" && rooted !== undefined && matchSegments(parts, rooted))
  );
}

function matchSegments(parts: readonly string[], segments: readonly string[]): boolean {
  const [part, ...rest] = parts;
  const [segment, ...others] = segments;
  if (part === undefined) return segment === undefined;
  if (part === "**") {
    // At the end it stands for one segment at least, elsewhere for none too.
    if (rest.length === 0) return segments.length > 0 && segments.every(isOrdinary);
    return matchSegments(rest, segments) || (isOrdinary(segment) && matchSegments(parts, others));
  }
  if (segment === undefined || !matchSegments(rest, others)) return false;
  if (!hasWildcard(part)) return asWritten(part) === segment;
  return isOrdinary(segment) && matchCharacters([...part], [...segment]);
}

function hasWildcard(pattern: string): boolean {
  return /[*?]|\[.+\]/su.test(pattern.replace(/\\./gsu, ""));
}

function asWritten(pattern: string): string {
  return pattern.replace(/\\(.)/gsu, "$1");
}

/** What a wildcard may stand for. */
function isOrdinary(segment: string | undefined): segment is string {
  return segment !== undefined && segment !== "" && segment !== "." && segment !== "..";
}

function matchCharacters(pattern: readonly string[], text: readonly string[]): boolean {
  const [sign, ...rest] = pattern;
  const [letter, ...others] = text;
  if (sign === undefined) return letter === undefined;
  if (sign === "*") return matchCharacters(rest, text) || (letter !== undefined && matchCharacters(pattern, others));
  if (letter === undefined) return false;
  if (sign === "\\" && rest[0] !== undefined) return rest[0] === letter && matchCharacters(rest.slice(1), others);
  // A ] that comes first is one of the characters.
  const end = rest.indexOf("]", 1);
  if (sign === "[" && end > 0) {
    return isInClass(rest.slice(0, end).join(""), letter) && matchCharacters(rest.slice(end + 1), others);
  }
  return (sign === "?" || sign === letter) && matchCharacters(rest, others);
}

/** `a-z`, `abc`, and `!abc` for all others. */
function isInClass(inside: string, letter: string): boolean {
  if (/^[!^]/.test(inside)) return !isInClass(inside.slice(1), letter);
  const range = /^(.)-(.)$/u.exec(inside);
  if (range?.[1] !== undefined && range[2] !== undefined) return range[1] <= letter && letter <= range[2];
  return inside.includes(letter);
}
