import { NOW } from "./builders.ts";

/** A clock that stands still unless it is told to go on. */
export class TestClock {
  #seconds = NOW;

  /** Milliseconds since the epoch, as gates want it. */
  readonly now = (): number => this.#seconds * 1000;

  advance(seconds: number): void {
    this.#seconds += seconds;
  }
}
