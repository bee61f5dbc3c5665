/** Something in a client's entries that is not so. */
export interface Doubt {
  readonly seq: number;
  readonly problem: string;
}

/** Why somebody should look at a plan, in words. */
export interface Flag {
  readonly words: string;
  readonly doubts: readonly Doubt[];
}

/** What a flag says. One of a newer server may be of a kind that is not known here. */
export function readFlag(flagged: unknown): Flag {
  const { kind, doubts } = isObject(flagged) ? flagged : {};
  switch (kind) {
    case "audit":
      return {
        words: "The client's record is not what its policy and its tokens give. It may have been tampered with.",
        doubts: Array.isArray(doubts) ? doubts.filter(isDoubt) : [],
      };
    case "never_closed":
      return {
        words: "It is over and was never closed: the agent was stopped, or keeps its last entries to itself.",
        doubts: [],
      };
    default:
      return { words: "The server marked it.", doubts: [] };
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isDoubt(value: unknown): value is Doubt {
  return isObject(value) && typeof value["seq"] === "number" && typeof value["problem"] === "string";
}
