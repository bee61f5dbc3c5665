/** `1 plan`, `2 plans`. */
export function count(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** A moment in UTC, to the minute; a dash if there was none. Milliseconds since the epoch. */
export function printMoment(moment: number | null | undefined): string {
  if (moment === null || moment === undefined) return "-";
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? "-" : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Names in a row; a dash for none. */
export function printNames(names: readonly string[], none = "-"): string {
  return names.length === 0 ? none : names.join(", ");
}
