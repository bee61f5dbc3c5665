import type { Json } from "../json.ts";
import type { RecordedSources } from "./recorded-sources.ts";
import type { CompiledSources, Place, StepSource } from "./source.ts";
import { TASK } from "./source.ts";
import { StepResults } from "./step-results.ts";
import type { TokenIndex } from "./token-index.ts";

/** The most places and sources that one decision may name: it is on record with them. */
export const MAX_SOURCE_MATCHES = 10_000;

/** Where a value of a call was found that its plan wants from somewhere. */
export interface SourceMatch {
  /** JSON Pointer of the argument, as the plan names it: `*` stands for any element. */
  readonly arg: string;
  /** `task`, or the id of a step. */
  readonly from: string;
  /** Of the decision that allowed the call whose result has the value; absent for the task. */
  readonly seq?: number;
  /** Where in the result it stands, if the plan or the policy names a place. */
  readonly path?: string;
}

/** A match, and whether it fixes the value: the user's words do, and the places in results that the policy trusts. */
export interface FoundSource {
  readonly match: SourceMatch;
  readonly pins: boolean;
}

/** What values may have been copied from. */
export interface SourceGrounds {
  readonly task: TokenIndex | undefined;
  /** Nobody has the task here: what a record says of it is taken on trust too. */
  readonly lacksTask: boolean;
  /** `StepResults`, or whatever was given for it. */
  readonly results: unknown;
  /** Instead of results, what a record says of them: taken on trust. */
  readonly recorded: RecordedSources | undefined;
  /** The places in the results of each step that the policy trusts, by the step's id. */
  readonly trusted: ReadonlyMap<string, readonly Place[]>;
  /** Where the values were found that the step's conditions want from somewhere, as far as it has been matched. */
  readonly found: FoundSource[];
}

/** One value on the way to where it came from. */
export interface SourceQuery {
  readonly value: Json;
  readonly arg: string;
  /** The index of the step whose condition it is. */
  readonly step: number | undefined;
  readonly sources: CompiledSources;
  readonly spend: (work: number) => void;
}

/** Where the value is found first: what fixes it is looked at before the rest. */
export function findSource(query: SourceQuery, grounds: SourceGrounds): FoundSource | undefined {
  const { sources, arg } = query;
  if (sources.task && grounds.task && findText(query, grounds.task) !== undefined) {
    return { match: { arg, from: TASK }, pins: true };
  }
  if (grounds.recorded) return grounds.recorded.find(query);
  return findTrusted(query, grounds) ?? findInResults(query, grounds);
}

function findTrusted(query: SourceQuery, grounds: SourceGrounds): FoundSource | undefined {
  const { arg, sources } = query;
  for (const source of sources.steps) {
    for (const place of grounds.trusted.get(source.step) ?? []) {
      const seq = findAt(query, grounds, { step: source.step, place });
      // What the policy trusts lets nothing more through the plan: the source itself has to have the value.
      if (seq === undefined || findInSource(query, grounds, source) === undefined) continue;
      return { match: { arg, from: source.step, seq, path: place.path }, pins: true };
    }
  }
  return undefined;
}

function findInResults(query: SourceQuery, grounds: SourceGrounds): FoundSource | undefined {
  const { arg, sources } = query;
  for (const source of sources.steps) {
    const seq = findInSource(query, grounds, source);
    if (seq === undefined) continue;
    const { step, place } = source;
    return { match: { arg, from: step, seq, ...(place && { path: place.path }) }, pins: false };
  }
  return undefined;
}

function findInSource(query: SourceQuery, grounds: SourceGrounds, source: StepSource): number | undefined {
  if (source.place) return findAt(query, grounds, source);
  const results = StepResults.of(grounds.results, source.step);
  return results && findText(query, results);
}

function findAt(
  { value, spend }: SourceQuery,
  { results }: SourceGrounds,
  { step, place }: StepSource,
): number | undefined {
  if (!place) return undefined;
  spend(50);
  return StepResults.of(results, step)?.findAt(place.path, place.pointer, { value, spend });
}

function findText({ value, spend }: SourceQuery, index: Pick<TokenIndex, "find" | "findNumber">): number | undefined {
  spend(50);
  switch (typeof value) {
    case "string":
      spend(40 * value.length);
      return index.find(value, spend);
    case "number":
      return index.findNumber(value);
    case "boolean":
      return index.find(String(value), spend);
    default:
      return undefined;
  }
}
