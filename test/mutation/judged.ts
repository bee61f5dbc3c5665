import type { Judgement } from "./judgements.ts";

/** By file, in the order of the code. A line that is changed loses its judgement, and is to be judged again. */
export const JUDGED: readonly Judgement[] = [];
