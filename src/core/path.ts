/** The way to a value inside another: names of fields and indices of arrays. */
export type Path = readonly (string | number)[];

/** `["rules", 0, "match"]` as `rules[0].match`. Long paths and names are cut: a path is for people. */
export function printPath(path: Path): string {
  const shown = path.slice(0, 20).map((part, index) => {
    if (typeof part === "number") return `[${part}]`;
    if (!/^[A-Za-z_$][\w$-]*$/.test(part) || part.length > 100) return `[${JSON.stringify(part.slice(0, 100))}]`;
    return index === 0 ? part : `.${part}`;
  });
  return shown.join("") + (path.length > 20 ? "…" : "");
}
