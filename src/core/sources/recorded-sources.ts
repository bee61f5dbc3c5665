import type { FoundSource, SourceGrounds, SourceMatch, SourceQuery } from "./find-source.ts";
import { type CompiledSources, TASK } from "./source.ts";

/** What a record says of a decision whose values came from somewhere: for whoever decides again without the results. */
export interface RecordedMatch {
  /** The step that the call matched: only there is anything found. */
  readonly step?: number | undefined;
  readonly sources?: readonly SourceMatch[] | undefined;
  /** `invalid_call`, if the search took too much work: it is not made again. */
  readonly reason?: string | undefined;
}

interface RecordedArg {
  readonly matches: readonly SourceMatch[];
  /** Whether each of them fixes the value. Which of a list's elements came from which is not on record. */
  readonly pins: boolean;
}

/** The places and sources on record, as answers to the conditions of the step that they were found for. */
export class RecordedSources {
  readonly #match: RecordedMatch;
  readonly #args = new Map<string, RecordedArg>();
  readonly #known = new Map<CompiledSources, FoundSource | undefined>();
  readonly #grounds: Pick<SourceGrounds, "trusted" | "lacksTask">;

  constructor(match: RecordedMatch, grounds: Pick<SourceGrounds, "trusted" | "lacksTask">) {
    this.#match = match;
    this.#grounds = grounds;
    for (const [arg, matches] of Map.groupBy(match.sources ?? [], ({ arg }) => arg)) {
      this.#args.set(arg, { matches, pins: matches.every((given) => this.#pins(given)) });
    }
  }

  get tookTooMuch(): boolean {
    return this.#match.reason === "invalid_call";
  }

  /** A source of the condition that the record has for its argument. Whether the value stands there is not seen. */
  find({ arg, sources, step }: SourceQuery): FoundSource | undefined {
    if (step !== this.#match.step) return undefined;
    if (!this.#known.has(sources)) this.#known.set(sources, this.#look(arg, sources));
    return this.#known.get(sources);
  }

  #look(arg: string, sources: CompiledSources): FoundSource | undefined {
    const { matches, pins } = this.#args.get(arg) ?? { matches: [], pins: false };
    const match = matches.find((given) => this.#isOf(sources, given));
    return match && { match, pins };
  }

  #isOf(sources: CompiledSources, match: SourceMatch): boolean {
    if (match.from === TASK) return sources.task && this.#grounds.lacksTask;
    return sources.steps.some(
      ({ step, place }) => step === match.from && (place?.path === match.path || this.#isTrusted(match)),
    );
  }

  #pins(match: SourceMatch): boolean {
    return match.from === TASK || this.#isTrusted(match);
  }

  #isTrusted({ from, path }: SourceMatch): boolean {
    return this.#grounds.trusted.get(from)?.some((place) => place.path === path) ?? false;
  }
}
