/** A mistake that somebody could make in one place, and the tests that are there so that nobody does. */
export interface Fault {
  /** Short and unique: `npm run test:faults -- ID` plants this one alone. */
  readonly id: string;
  /** What goes wrong with it, in a sentence. */
  readonly breaks: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly text: string;
  readonly becomes: string;
  /** The test files each of which has to turn red. */
  readonly tests: readonly [string, ...string[]];
}

/**
 * The source with the fault in it.
 *
 * @throws Error unless the fault's text occurs exactly once: the code has moved, and the list has to follow
 */
export function plantFault(source: string, { id, file, text, becomes }: Fault): string {
  const [before = "", ...after] = source.split(text);
  if (text === "" || after.length !== 1) {
    throw new Error(`${id}: its text occurs ${after.length} times in ${file}, and not once`);
  }
  return before + becomes + after[0];
}
