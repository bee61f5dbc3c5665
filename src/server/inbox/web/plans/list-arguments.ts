import { type Json, jsonEqual } from "../../../../core/json.ts";
import type { Chapter } from "./group-entries.ts";

export interface ListedArguments {
  /** Where they are on record: `entry 4`. */
  readonly where: string;
  readonly args: Json;
}

/**
 * The arguments of a chapter's call. By its digest they are the same wherever they are: those that are not are apart, or
 * what is read would not be what ran.
 */
export function listArguments({ entries, holds }: Chapter): readonly ListedArguments[] {
  const all = [
    ...entries.flatMap(({ seq, event }) =>
      event.type === "decision" ? [{ where: `entry ${seq}`, args: event.args }] : [],
    ),
    ...holds.map(({ args }) => ({ where: "the hold", args })),
  ];
  const listed: ListedArguments[] = [];
  for (const { where, args } of all) {
    // They may have been redacted.
    if (args === undefined || listed.some((one) => jsonEqual(one.args, args as Json))) continue;
    listed.push({ where, args: args as Json });
  }
  return listed;
}
