import type { Failure } from "./messages.ts";

/** An operation that is refused alone, before it has written anything: the others of its group go on. */
export class Refusal extends Error implements Failure {
  override readonly name = "Refusal";
  readonly code: Failure["code"];

  constructor(code: Failure["code"], message: string) {
    super(message);
    this.code = code;
  }
}
