import { writeQuery } from "../api.ts";

/** A version of a policy, or what is in the editor. */
export type Side = number | "editor";

/** What of the page is in its address. */
export interface View {
  /** How many decisions are made again. */
  readonly replay: number;
  /** Show only what would change. */
  readonly onlyChanges: boolean;
  /** Two sides that are compared. */
  readonly from: Side | undefined;
  readonly to: Side | undefined;
}

export const REPLAYS: readonly number[] = [0, 10, 50, 100, 200, 500, 1000];
const REPLAY_UNLESS_TOLD = 50;

/** Reads what somebody may have written into the address by hand. */
export function readView(query: Readonly<Record<string, string>>): View {
  const replay = Number(query["replay"] ?? REPLAY_UNLESS_TOLD);
  return {
    replay: Number.isInteger(replay) && replay >= 0 && replay <= 1000 ? replay : REPLAY_UNLESS_TOLD,
    onlyChanges: query["only"] === "changes",
    from: readSide(query["from"]),
    to: readSide(query["to"]),
  };
}

export function writeView({ replay, onlyChanges, from, to }: View): string {
  return writeQuery({
    replay: replay === REPLAY_UNLESS_TOLD ? undefined : replay,
    only: onlyChanges ? "changes" : undefined,
    from,
    to,
  });
}

export function readSide(text: string | undefined): Side | undefined {
  if (text === "editor") return text;
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
