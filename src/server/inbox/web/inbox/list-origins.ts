import type { DecisionRecord } from "../../../../core/audit.ts";
import type { Json } from "../../../../core/json.ts";
import { appendPointer, type Pointer, parsePointer, someAt } from "../../../../core/json-pointer.ts";
import type { SourceMatch } from "../../../../core/sources/find-source.ts";

/** An argument of a call, or a place in one, with where its value came from. */
export interface Origin {
  /** The argument's name; the pointer of what is deeper. */
  readonly name: string;
  /** If there is one value, and it is known. */
  readonly value?: Json;
  /** Nothing in the plan has fixed it, and a rule holds the call for that. */
  readonly isOpen: boolean;
  /** Empty: nobody knows. */
  readonly sources: readonly SourceMatch[];
}

/** What a decision says of where the values came from: what is open first. */
export function listOrigins(
  { unpinned = [], sources = [] }: Pick<DecisionRecord, "unpinned" | "sources">,
  args?: Json,
): readonly Origin[] {
  const targets = unpinned.map((name) => ({ name, path: name.startsWith("/") ? name : appendPointer("", name) }));
  const open = targets.map(({ name, path }) => {
    return toOrigin(path, { name, isOpen: true, sources: sources.filter(({ arg }) => isOf(arg, path)), args });
  });
  const rest = sources.filter(({ arg }) => !targets.some(({ path }) => isOf(arg, path)));
  const others = Map.groupBy(rest, ({ arg }) => arg);
  return [
    ...open,
    ...[...others].map(([arg, its]) => toOrigin(arg, { name: nameOf(arg), isOpen: false, sources: its, args })),
  ];
}

function toOrigin(path: string, { args, ...origin }: Omit<Origin, "value"> & { args: Json | undefined }): Origin {
  const pointer = parsePointer(path);
  let value: Json | undefined;
  if (args !== undefined && pointer && !pointer.includes("*")) {
    someAt(args, pointer, (found) => {
      value = found;
      return true;
    });
  }
  return { ...origin, ...(value !== undefined && { value }) };
}

function nameOf(arg: string): string {
  const pointer = parsePointer(arg);
  return pointer?.length === 1 ? (pointer[0] as string) : arg;
}

/** Whether a place is the target, in it, or around it. */
function isOf(arg: string, target: string): boolean {
  const [one, other] = [parsePointer(arg), parsePointer(target)];
  return one !== undefined && other !== undefined && agree(one, other);
}

function agree(one: Pointer, other: Pointer): boolean {
  return one
    .slice(0, other.length)
    .every((part, index) => part === other[index] || part === "*" || other[index] === "*");
}
