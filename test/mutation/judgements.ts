import { isLeft, type Mutant, type MutatedFile } from "./reports.ts";

export const KINDS = {
  equivalent: "the same program in other words, for all that can be seen of it",
  text: "only the words of a message, or which of two that both say why",
  speed: "the same answer with more or less work",
  gap: "tests that are missing",
} as const;

/** What somebody thought of the mutants of a line that survived. */
export interface Judgement {
  readonly file: string;
  /** Some of the line where the mutated code begins. Without one: whatever else of the file survived. */
  readonly line?: string;
  /** Some of the replacement, where a line has mutants of several kinds. */
  readonly by?: string;
  readonly kind: keyof typeof KINDS;
  readonly why: string;
}

/** The survivors of a file, each with the first judgement that is about it. */
export function judgeSurvivors(
  file: string,
  { source, mutants }: MutatedFile,
  judgements: readonly Judgement[],
): { readonly mutant: Mutant; readonly judgement: Judgement | undefined }[] {
  const lines = source.split("\n");
  return mutants.filter(isLeft).map((mutant) => {
    const text = lines[mutant.location.start.line - 1] ?? "";
    const isAbout = (judgement: Judgement) =>
      judgement.file === file && text.includes(judgement.line ?? "") && mutant.replacement.includes(judgement.by ?? "");
    return { mutant, judgement: judgements.find(isAbout) };
  });
}
