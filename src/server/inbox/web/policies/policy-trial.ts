import { batch, type Signal, signal } from "@preact/signals";
import type {
  SampleCall,
  TestPolicyAnswer,
  TestPolicyBody,
  ValidatePolicyAnswer,
} from "../../../../core/api/policies.ts";
import type { Issue } from "../../../../core/errors.ts";
import { type Api, type ApiError, asApiError } from "../api.ts";

/** What is tried. */
export interface TrialInput {
  readonly text: string;
  /** How many of the agent's last decisions are made again. */
  readonly replay: number;
  readonly calls: readonly SampleCall[];
}

export type TrialState =
  /** Something has changed; what is shown is of before. */
  | "waiting"
  /** The text has issues. */
  | "invalid"
  | "done"
  | "failed";

const VALIDATE_AFTER_MS = 250;
/** A dry run is work for the server: it waits until somebody pauses, longer where there is more to do. */
const TEST_AFTER_MS = 250;
const MANY = 200;
const TEST_MANY_AFTER_MS = 1000;

/**
 * Tries a policy's text while it is written: what is wrong with it, and what it would change. Each input replaces the one
 * before, whose answers are not waited for.
 */
export class PolicyTrial {
  readonly state: Signal<TrialState> = signal("waiting");
  readonly issues: Signal<readonly Issue[]> = signal([]);
  /** Of the last text that was valid. */
  readonly result: Signal<TestPolicyAnswer | undefined> = signal(undefined);
  readonly error: Signal<ApiError | undefined> = signal(undefined);
  readonly #api: Pick<Api, "post">;
  readonly #agent: string;
  #current: AbortController | undefined;
  #input: TrialInput | undefined;
  /** The last text of which the server said that it is valid. */
  #valid: string | undefined;

  constructor(api: Pick<Api, "post">, agent: string) {
    this.#api = api;
    this.#agent = agent;
  }

  /** Tries this from now on. */
  set(input: TrialInput): void {
    if (this.#input && isSame(this.#input, input)) return;
    this.#input = input;
    this.retry();
  }

  /** Tries the same once more. */
  retry(): void {
    if (!this.#input) return;
    this.#current?.abort();
    const own = new AbortController();
    this.#current = own;
    this.state.value = "waiting";
    void this.#run(this.#input, own.signal);
  }

  close(): void {
    this.#current?.abort();
  }

  async #run(input: TrialInput, signal: AbortSignal): Promise<void> {
    try {
      if (!(await this.#validate(input.text, signal))) return;
      await wait(input.replay > MANY ? TEST_MANY_AFTER_MS : TEST_AFTER_MS, signal);
      const body: TestPolicyBody = { agent: this.#agent, ...input };
      const result = await this.#api.post<TestPolicyAnswer>("/v1/policies/test", body, { signal });
      if (signal.aborted) return;
      batch(() => {
        this.result.value = result;
        this.error.value = undefined;
        this.state.value = "done";
      });
    } catch (error) {
      if (signal.aborted) return;
      batch(() => {
        this.error.value = asApiError(error);
        this.state.value = "failed";
      });
    }
  }

  async #validate(text: string, signal: AbortSignal): Promise<boolean> {
    if (text === this.#valid) return true;
    await wait(VALIDATE_AFTER_MS, signal);
    const { valid, issues } = await this.#api.post<ValidatePolicyAnswer>("/v1/policies/validate", { text }, { signal });
    if (signal.aborted) return false;
    this.#valid = valid ? text : undefined;
    batch(() => {
      this.issues.value = issues;
      this.error.value = undefined;
      if (!valid) this.state.value = "invalid";
    });
    return valid;
  }
}

function isSame(a: TrialInput, b: TrialInput): boolean {
  return a.text === b.text && a.replay === b.replay && JSON.stringify(a.calls) === JSON.stringify(b.calls);
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
  });
}
