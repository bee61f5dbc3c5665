import { copyJson, type Json, jsonEqual } from "../json.ts";
import { type Pointer, someAt } from "../json-pointer.ts";
import { parseJson } from "../parse-json.ts";
import type { Plan } from "../plan.ts";
import { namesOfSources } from "./source.ts";
import { type Origin, TokenIndex } from "./token-index.ts";

/** The most that is kept of the results of one step, in characters of their JSON. A result that is past it has no effect. */
export const MAX_STEP_RESULTS = 1_048_576;

/** To find out that a text is no JSON takes an error, as long as reading thousands of characters: a result may be full of them. */
const MAX_MISREAD = 1000;

/**
 * What the calls of a plan's steps have given so far, as far as a `from` of the plan names the step. In memory only.
 * Made by {@link createStepResults}; `check()` takes no look-alike.
 */
export class StepResults {
  readonly #steps = new Map<string, StepTexts>();
  /** By the step's index, the id that a `from` has for it. */
  readonly #ids = new Map<number, string>();

  constructor(plan: Plan) {
    const named = namesOfSources(plan);
    for (const [index, { id }] of plan.steps.entries()) {
      if (id === undefined || !named.has(id)) continue;
      this.#ids.set(index, id);
      this.#steps.set(id, new StepTexts());
    }
    Object.freeze(this);
  }

  /** Whether any result is wanted at all. */
  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** Whether a `from` names this step. */
  wants(step: number): boolean {
    return this.#ids.has(step);
  }

  /**
   * Adds what a call gave, once it is known. Never throws: what cannot be read, or is too much, is not there to be found.
   *
   * @param step the index of the step that allowed the call
   * @param seq the number of the decision that allowed it
   */
  add(step: number, seq: number, result: unknown): void {
    const id = this.#ids.get(step);
    if (id !== undefined) this.#steps.get(id)?.add(seq, result);
  }

  /** The results of a step, if these are results at all. */
  static of(results: unknown, id: string): StepTexts | undefined {
    return typeof results === "object" && results !== null && #steps in results ? results.#steps.get(id) : undefined;
  }
}

/** A place for the results of a plan's calls. */
export function createStepResults(plan: Plan): StepResults {
  return new StepResults(plan);
}

/** The results of one step. */
class StepTexts {
  readonly #index = new TokenIndex();
  readonly #results: { readonly seq: Origin; readonly value: Json }[] = [];
  readonly #places = new Map<string, PlaceIndex>();
  #characters = 0;
  /** How many texts inside of results looked like JSON and were none. */
  #misread = 0;

  add(seq: number, result: unknown): void {
    try {
      const text = JSON.stringify(result);
      if (text === undefined || this.#characters + text.length > MAX_STEP_RESULTS) return;
      this.#characters += text.length;
      const value = readText(copyJson(JSON.parse(text)));
      this.#addTexts(value, seq);
      this.#results.push({ seq, value });
      for (const place of this.#places.values()) place.add(seq, value);
    } catch {
      // What a tool gave may be anything.
    }
  }

  find(text: string, spend: (work: number) => void): Origin | undefined {
    return this.#index.find(text, spend);
  }

  findNumber(value: number): Origin | undefined {
    return this.#index.findNumber(value);
  }

  /** The newest result that has this very value at the pointer. */
  findAt(path: string, pointer: Pointer, { value, spend }: Wanted): Origin | undefined {
    let place = this.#places.get(path);
    if (!place) {
      place = new PlaceIndex(pointer);
      for (const { seq, value } of this.#results) place.add(seq, value);
      this.#places.set(path, place);
    }
    return place.find(value, spend);
  }

  /** Each text of a result stands alone; keys are texts too. */
  #addTexts(value: Json, seq: Origin): void {
    if (typeof value === "string") this.#addText(value, seq);
    else if (typeof value === "number") this.#index.addNumber(value, seq);
    else if (typeof value === "boolean") this.#index.add(String(value), seq);
    else if (Array.isArray(value)) for (const item of value) this.#addTexts(item as Json, seq);
    else if (value !== null) {
      for (const [key, item] of Object.entries(value)) {
        this.#index.add(key, seq);
        this.#addTexts(item, seq);
      }
    }
  }

  #addText(text: string, seq: Origin): void {
    const value = this.#misread < MAX_MISREAD ? readText(text) : text;
    if (value === text) {
      if (looksLikeJson(text)) this.#misread++;
      this.#index.add(text, seq);
    } else {
      this.#addTexts(value, seq);
    }
  }
}

interface Wanted {
  readonly value: Json;
  readonly spend: (work: number) => void;
}

/** What stands at one pointer of the results. */
class PlaceIndex {
  readonly #pointer: Pointer;
  readonly #scalars = new Map<Json, Origin>();
  readonly #structures: { readonly value: Json; readonly seq: Origin }[] = [];

  constructor(pointer: Pointer) {
    this.#pointer = pointer;
  }

  add(seq: Origin, result: Json): void {
    someAt(result, this.#pointer, (value) => {
      if (typeof value === "object" && value !== null) this.#structures.push({ value, seq });
      else this.#scalars.set(value, seq);
      return false;
    });
  }

  find(value: Json, spend: (work: number) => void): Origin | undefined {
    if (typeof value !== "object" || value === null) return this.#scalars.get(value);
    return this.#structures.findLast((given) => {
      spend(10);
      return jsonEqual(value, given.value, (items) => spend(10 + 10 * items));
    })?.seq;
  }
}

/** A text that is the JSON of an object or a list counts as what it says: many tools print what they give. */
function readText(value: Json): Json {
  if (!looksLikeJson(value)) return value;
  try {
    return parseJson(value as string);
  } catch {
    return value;
  }
}

function looksLikeJson(value: Json): boolean {
  return typeof value === "string" && /^\s*[[{]/.test(value);
}
