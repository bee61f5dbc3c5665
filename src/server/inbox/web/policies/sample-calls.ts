import type { SampleCall } from "../../../../core/api/policies.ts";
import type { Issue } from "../../../../core/errors.ts";
import { HIDDEN_CHARACTER } from "../../../../core/hidden-characters.ts";
import { readJson } from "../parts/read-json.ts";

/** A sample call as somebody writes it. */
export interface SampleDraft {
  /** Of the form, not of the call. */
  readonly id: number;
  readonly tool: string;
  /** JSON; nothing stands for no arguments. */
  readonly args: string;
  /** An e-mail address; nothing stands for the first administrator. */
  readonly user: string;
}

export type ReadSample =
  | { readonly call: SampleCall; readonly issues?: undefined }
  | { readonly call?: undefined; readonly issues: readonly Issue[] };

const TOOL = /^[a-zA-Z0-9_-]{1,64}$/;
/** The server takes as many. */
const MOST = 1000;

/** Reads one; what is wrong is at `tool`, `args` or `user`. */
export function readSample({ tool, args, user }: SampleDraft): ReadSample {
  const issues: Issue[] = [];
  if (!TOOL.test(tool.trim())) {
    issues.push({ path: "tool", message: "Write a tool’s name: letters, digits, - and _, at most 64." });
  }
  let value: unknown;
  try {
    value = args.trim() === "" ? {} : readJson(args);
  } catch (error) {
    issues.push({ path: "args", message: (error as Error).message });
  }
  const email = user.trim();
  if (email !== "" && !/^[^@\s]+@[^@\s]+$/.test(email)) {
    issues.push({ path: "user", message: "Write an e-mail address, or nothing." });
  }
  if (issues.length > 0) return { issues };
  return { call: { tool: tool.trim(), args: value, ...(email !== "" && { user: email }) } };
}

/** Those that can be tried, in order. */
export function readSamples(drafts: readonly SampleDraft[]): readonly SampleCall[] {
  return drafts.flatMap((draft) => readSample(draft).call ?? []);
}

/** Nothing has been written yet: there is nothing to find fault with. */
export function isBlank({ tool, args, user }: SampleDraft): boolean {
  return `${tool}${args}${user}`.trim() === "";
}

export function addSample(drafts: readonly SampleDraft[], sample: Partial<SampleDraft> = {}): readonly SampleDraft[] {
  if (drafts.length >= MOST) return drafts;
  const id = Math.max(0, ...drafts.map((draft) => draft.id)) + 1;
  return [...drafts, { tool: "", args: "", user: "", ...sample, id }];
}

/** A call that was decided, to be tried in other ways. What would not be seen in a field is written as its number. */
export function toSample(tool: string, args: unknown, user: string | undefined): Partial<SampleDraft> {
  return { tool, args: JSON.stringify(args, undefined, 2).replace(HIDDEN, writeEscape), user: user ?? "" };
}

const HIDDEN = new RegExp(`(?!\\n)${HIDDEN_CHARACTER.source}`, "gu");

function writeEscape(character: string): string {
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
}

/** What was kept of them. Whatever is not what this version keeps is left out. */
export function restoreSamples(text: string | null): readonly SampleDraft[] {
  try {
    const kept: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(kept)) return [];
    return kept.filter(isDraft).reduce<readonly SampleDraft[]>(addSample, []);
  } catch {
    return [];
  }
}

function isDraft(value: unknown): value is SampleDraft {
  if (typeof value !== "object" || value === null) return false;
  return (["tool", "args", "user"] as const).every(
    (field) => typeof (value as Partial<SampleDraft>)[field] === "string",
  );
}
