import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TestPolicyAnswer, ValidatePolicyAnswer } from "../../../../core/api/policies.ts";
import { type Api, ApiError, type AskOptions } from "../api.ts";
import { PolicyTrial, type TrialInput } from "./policy-trial.ts";

interface Asked {
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
  answer(value: unknown): void;
  refuse(error: ApiError): void;
}

const VALID: ValidatePolicyAnswer = { valid: true, issues: [] };
const WRONG: ValidatePolicyAnswer = { valid: false, issues: [{ path: "rules", message: "wrong", line: 1, column: 1 }] };
const RESULT: TestPolicyAnswer = { rows: [], changed: 0, notRecomputable: 3 };
const INPUT: TrialInput = { text: "one", replay: 50, calls: [] };

/** A trial whose questions the test answers. */
function aTrial(): { readonly trial: PolicyTrial; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const post = (path: string, body: unknown, { signal }: AskOptions = {}): Promise<unknown> =>
    new Promise((answer, refuse) => {
      asked.push({ path: path.split("/").at(-1) ?? "", body, signal: signal!, answer, refuse });
    });
  return { trial: new PolicyTrial({ post: post as Api["post"] }, "triage"), asked };
}

async function pause(milliseconds = 300): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("a text is validated, then tried", async () => {
  const { trial, asked } = aTrial();
  trial.set(INPUT);
  expect(asked).toEqual([]);
  await pause();
  asked[0]?.answer(VALID);
  await pause();
  asked[1]?.answer(RESULT);
  await pause();
  expect(asked.map(({ path }) => path)).toEqual(["validate", "test"]);
  expect(asked[1]?.body).toEqual({ agent: "triage", ...INPUT });
  expect([trial.state.value, trial.result.value]).toEqual(["done", RESULT]);
});

test("a text with issues is not tried, and what the last one would change stays", async () => {
  const { trial, asked } = aTrial();
  trial.set(INPUT);
  await pause();
  asked[0]?.answer(VALID);
  await pause();
  asked[1]?.answer(RESULT);
  await pause();
  trial.set({ ...INPUT, text: "two" });
  await pause();
  asked[2]?.answer(WRONG);
  await pause();
  expect(asked).toHaveLength(3);
  expect([trial.state.value, trial.issues.value, trial.result.value]).toEqual(["invalid", WRONG.issues, RESULT]);
});

test("who types on is not answered on what is past", async () => {
  const { trial, asked } = aTrial();
  for (const text of ["o", "on", "one"]) {
    trial.set({ ...INPUT, text });
    await pause(100);
  }
  await pause();
  expect(asked.map(({ body }) => body)).toEqual([{ text: "one" }]);
  trial.set({ ...INPUT, text: "two" });
  expect(asked[0]?.signal.aborted).toBe(true);
  await pause();
  asked[1]?.answer(VALID);
  asked[0]?.answer(WRONG);
  await pause();
  expect([trial.state.value, trial.issues.value]).toEqual(["waiting", []]);
});

test("an answer of a dry run that comes late is passed over", async () => {
  const { trial, asked } = aTrial();
  trial.set(INPUT);
  await pause();
  asked[0]?.answer(VALID);
  await pause();
  trial.set({ ...INPUT, replay: 100 });
  asked[1]?.answer(RESULT);
  await pause();
  expect(trial.result.value).toBeUndefined();
  // The same text is not validated again.
  expect(asked.map(({ path }) => path)).toEqual(["validate", "test", "test"]);
});

test("the same input asks nothing", async () => {
  const { trial, asked } = aTrial();
  trial.set(INPUT);
  await pause();
  trial.set({ ...INPUT, calls: [] });
  await pause();
  expect(asked).toHaveLength(1);
});

test("a failure is told, and can be tried again", async () => {
  const { trial, asked } = aTrial();
  trial.set(INPUT);
  await pause();
  const error = new ApiError({ code: "unreachable", title: "The server could not be reached" });
  asked[0]?.refuse(error);
  await pause();
  expect([trial.state.value, trial.error.value]).toEqual(["failed", error]);
  trial.retry();
  await pause();
  asked[1]?.answer(WRONG);
  await pause();
  expect([trial.state.value, trial.error.value]).toEqual(["invalid", undefined]);
});

test("nothing is asked any more once it is closed", async () => {
  const { trial, asked } = aTrial();
  trial.set(INPUT);
  trial.close();
  await pause();
  expect(asked).toEqual([]);
});
